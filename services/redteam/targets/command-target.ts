import { spawn } from 'node:child_process'
import { performance } from 'node:perf_hooks'
import { codeOf } from '#runtime/errors.ts'
import { recordedAnswer, recordedRequest } from './template-target.ts'
import { maxAnswerBytes, type Target, type TargetAnswer } from './target.ts'

interface CommandTargetOptions {
  /** A program and its arguments; no shell reads them. */
  command: readonly string[]
  timeoutMs: number
  /** The environment of the program. */
  environment: Readonly<Record<string, string>>
}

/** A program that reads the prompt and writes its answer. SLUICE_SESSION identifies the conversation. */
export function createCommandTarget({ command, timeoutMs, environment }: CommandTargetOptions): Target {
  return {
    takesSurroundings: false,
    async ask(conversation): Promise<TargetAnswer> {
      const requestBody = recordedRequest(conversation)
      const startedAt = performance.now()
      const env = { ...environment, SLUICE_SESSION: conversation.session, SLUICE_REDTEAM: '1' }
      const { text, error } = await run(command, conversation.said.at(-1)?.text ?? '', env, timeoutMs)
      const latencyMs = Math.round(performance.now() - startedAt)
      if (error === 'ENOENT' || error === 'EACCES') return { kind: 'unreached', error }
      if (error !== undefined)
        return { kind: 'failed', requestBody, responseBody: null, statusCode: null, latencyMs, error }
      return {
        kind: 'answered',
        requestBody,
        responseBody: recordedAnswer(text),
        text,
        statusCode: null,
        latencyMs,
      }
    },
    close: () => Promise.resolve(),
  }
}

function run(
  [program = '', ...args]: readonly string[],
  input: string,
  env: Readonly<Record<string, string>>,
  timeoutMs: number,
): Promise<{ text: string; error?: string }> {
  return new Promise((resolve) => {
    // In a process group of its own: its children may hold the output open, and end with it.
    const child = spawn(program, args, { env, detached: true, stdio: ['pipe', 'pipe', 'ignore'] })
    const chunks: Buffer[] = []
    let size = 0
    let failure: string | undefined
    const kill = (reason: string) => {
      failure ??= reason
      killGroup(child.pid)
    }
    const timer = setTimeout(kill, timeoutMs, 'TIMEOUT')
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > maxAnswerBytes) kill('ANSWER_TOO_LARGE')
      else chunks.push(chunk)
    })
    child.on('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer)
      resolve({ text: '', error: error.code ?? 'SPAWN' })
    })
    child.on('close', (code, signal) => {
      clearTimeout(timer)
      const error = failure ?? signal ?? (code === 0 ? undefined : `EXIT_${code ?? 'NONE'}`)
      resolve(
        error === undefined
          ? { text: Buffer.concat(chunks).toString('utf8').trimEnd() }
          : { text: '', error },
      )
    })
    // A program that does not read its input closes it; its answer still counts.
    child.stdin.on('error', () => undefined)
    child.stdin.end(input)
  })
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    // All of the group has ended.
    if (codeOf(error) !== 'ESRCH') throw error
  }
}

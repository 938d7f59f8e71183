import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { text } from 'node:stream/consumers'

export interface ProgramOptions {
  env?: NodeJS.ProcessEnv
  cwd?: string
  /** Ends a program that hangs. */
  timeoutMs?: number
  /** Also receives the output. */
  logFile?: string
}

const maxShown = 2000

/** Runs a program and resolves with its standard output. Rejects with the end of its error output. */
export async function runProgram(
  command: string,
  args: readonly string[],
  { env = process.env, cwd, timeoutMs = 600_000, logFile }: ProgramOptions = {},
): Promise<string> {
  const child = spawn(command, args, { env, cwd, stdio: ['ignore', 'pipe', 'pipe'], timeout: timeoutMs })
  if (logFile !== undefined) {
    const log = createWriteStream(logFile, { flags: 'a' })
    child.stdout.pipe(log)
    child.stderr.pipe(log)
  }
  const closed = once(child, 'close') as Promise<[number | null, string | null]>
  const [stdout, stderr, [code, signal]] = await Promise.all([text(child.stdout), text(child.stderr), closed])
  if (code === 0) return stdout
  const said = `${stdout}\n${stderr}`.trim().slice(-maxShown)
  throw new Error(`${command} ${args.slice(0, 4).join(' ')} ended with ${code ?? signal}: ${said}`)
}

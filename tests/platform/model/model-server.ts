import { join } from 'node:path'
import { startGuarded, type GuardedProcess } from '#infra/embedded/guarded-process.ts'
import { lastLines } from '#infra/embedded/await-ready.ts'
import { freePorts } from '#infra/embedded/free-port.ts'
import { until } from '../../support/until.ts'

export interface ModelServer {
  /** For OPENAI_BASE_URL. */
  url: string
  /** Starts it, at the same address each time. Flags of llama-server. */
  start(...flags: string[]): Promise<void>
  /** By force, as if the machine failed. */
  kill(): Promise<void>
}

/** Tokens of a request and its answer. Four requests at once share the server's memory. */
const contextTokens = 4 * 8_192

/** A model server of this machine, not yet started. */
export async function createModelServer(
  program: string,
  model: string,
  directory: string,
): Promise<ModelServer> {
  const [port] = (await freePorts(1)) as [number]
  const address = `http://127.0.0.1:${port}`
  const logFile = join(directory, 'llama-server.log')
  const place = ['--host', '127.0.0.1', '--port', String(port), '--model', model, '--alias', 'gemma-3-270m']
  const size = ['--ctx-size', String(contextTokens), '--parallel', '4', '--offline']
  let running: GuardedProcess | undefined
  return {
    url: `${address}/v1`,
    async start(...flags) {
      const server = await startGuarded({ command: program, args: [...place, ...size, ...flags], logFile })
      running = server
      let isGone = false
      void server.exited.then(() => (isGone = true))
      await until(async () => isGone || (await isReady(address)))
      if (isGone) throw new Error(`the model server ended: ${(await lastLines(logFile, 5)).join('\n')}`)
    },
    async kill() {
      running?.signal('SIGKILL')
      await running?.exited
      running = undefined
    },
  }
}

/** It listens before it has loaded its model. */
function isReady(address: string): Promise<boolean> {
  return fetch(`${address}/health`).then(
    ({ ok }) => ok,
    () => false,
  )
}

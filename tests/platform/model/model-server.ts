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

/** Without a penalty the model repeats itself until its tokens are used up, and no answer is whole. */
const sampling = ['--repeat-penalty', '1.3', '--repeat-last-n', '256']
/**
 * One request at a time, so that the next one finds the same instructions in the cache. One thread: on a busy
 * machine llama.cpp's threads wait for each other (1 token a second with two of them, 14 with one, while 13
 * processes shared two cores).
 */
const size = ['--ctx-size', '8192', '--parallel', '1', '--threads', '1', '--offline']

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
  let running: GuardedProcess | undefined
  return {
    url: `${address}/v1`,
    async start(...flags) {
      const server = await startGuarded({
        command: program,
        args: [...place, ...size, ...sampling, ...flags],
        logFile,
      })
      running = server
      if (await becomesReady(server, address)) return
      throw new Error(`the model server ended: ${(await lastLines(logFile, 5)).join('\n')}`)
    },
    async kill() {
      running?.signal('SIGKILL')
      await running?.exited
      running = undefined
    },
  }
}

/** False: it ended. */
async function becomesReady({ exited }: GuardedProcess, address: string): Promise<boolean> {
  let isGone = false
  void exited.then(() => (isGone = true))
  await until(async () => isGone || (await isReady(address)))
  return !isGone
}

/** It listens before it has loaded its model. */
function isReady(address: string): Promise<boolean> {
  return fetch(`${address}/health`).then(
    ({ ok }) => ok,
    () => false,
  )
}

import { Piscina } from 'piscina'
import type { EncryptionKey } from '#runtime/encryption-keys.ts'
import { codeOf } from '#runtime/errors.ts'
import type { FindTask, FoundInCalls } from './find-in-thread.ts'

/** Opens calls off the event loop, which other requests wait for. */
export interface FindThread {
  find(task: FindTask): Promise<FoundInCalls>
  stop(): Promise<void>
}

/** The largest body and its words take about 300 MiB. */
const resourceLimits = { maxOldGenerationSizeMb: 400 }
const idleTimeoutMs = 60_000
/** With the wait for the tasks of three other searches. */
const maxTaskMs = 60_000

/**
 * One thread for all searches of the process. Each gives it a few calls and waits, so they take turns, and
 * all together take one core at most.
 */
export function createFindThread(keys: readonly EncryptionKey[]): FindThread {
  let pool: Piscina | undefined
  const poolOf = () =>
    (pool ??= new Piscina({
      filename: new URL('find-in-thread.ts', import.meta.url).href,
      name: 'findInThread',
      minThreads: 0,
      maxThreads: 1,
      idleTimeout: idleTimeoutMs,
      resourceLimits,
      workerData: { keys },
    }))

  async function find(task: FindTask): Promise<FoundInCalls> {
    const timeUp = AbortSignal.timeout(maxTaskMs)
    try {
      return (await poolOf().run(task, { signal: timeUp })) as FoundInCalls
    } catch (error) {
      // Piscina has replaced the thread.
      if (codeOf(error) !== 'ERR_WORKER_OUT_OF_MEMORY' && !timeUp.aborted) throw error
      if (task.calls.length === 1) return ['unreadable']
    }
    const found: FoundInCalls = []
    for (const call of task.calls) found.push(...(await find({ ...task, calls: [call] })))
    return found
  }

  return { find, stop: () => pool?.destroy() ?? Promise.resolve() }
}

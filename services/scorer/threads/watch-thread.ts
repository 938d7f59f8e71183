import type { Worker } from 'node:worker_threads'
import type { Clock } from '#runtime/clock.ts'
import { codeOf } from '#runtime/errors.ts'

/** What a thread may take for one task. */
export interface ThreadLimits {
  /** Of its own processor time: on a busy machine that is less than what passes by the clock. */
  processorMs: number
  /** By the clock, for a thread that hangs without working. */
  wallMs: number
}

/** Which limit was reached. */
export type Exceeded = 'too_slow' | 'hung'

/** A thread that has begun a task, with the microseconds that it had taken until then. */
export interface BegunTask {
  thread: Pick<Worker, 'cpuUsage'>
  beganUs: number
}

/** Asked no more often than this: a thread that gets all of a processor comes to its limit in one wait. */
const minWaitMs = 20

/**
 * Resolves to the limit that is reached first; to undefined once `over` aborts, or the thread is gone. `begun`
 * resolves when the task begins.
 */
export async function watchThread(
  begun: Promise<BegunTask>,
  { processorMs, wallMs }: ThreadLimits,
  clock: Clock,
  over: AbortSignal,
): Promise<Exceeded | undefined> {
  const ended = new AbortController()
  const either = AbortSignal.any([over, ended.signal])
  const atProcessor = async (): Promise<Exceeded | undefined> => {
    const { thread, beganUs } = await begun
    let leftMs = processorMs
    while (leftMs > 0) {
      await clock.sleep(Math.max(minWaitMs, leftMs), either)
      if (either.aborted) return undefined
      const usedUs = await processorUs(thread)
      if (usedUs === undefined) return undefined
      leftMs = processorMs - (usedUs - beganUs) / 1_000
    }
    return 'too_slow'
  }
  const atWall = async (): Promise<Exceeded | undefined> => {
    await clock.sleep(wallMs, either)
    return either.aborted ? undefined : 'hung'
  }
  try {
    return await Promise.race([atProcessor(), atWall()])
  } finally {
    ended.abort()
  }
}

/** Undefined: it has ended, and whoever runs it hears why. */
async function processorUs(thread: Pick<Worker, 'cpuUsage'>): Promise<number | undefined> {
  try {
    const { user, system } = await thread.cpuUsage()
    return user + system
  } catch (error) {
    if (codeOf(error) === 'ERR_WORKER_NOT_RUNNING') return undefined
    throw error
  }
}

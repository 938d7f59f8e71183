import type { Worker } from 'node:worker_threads'
import type { Clock } from './clock.ts'
import { codeOf } from './errors.ts'

/** Limits of a thread for one task. */
export interface ThreadLimits {
  /** CPU time: on a busy machine less than wall-clock time. */
  processorMs: number
  /** Wall-clock time, for a thread that hangs without working. */
  wallMs: number
}

/** The limit that was reached. */
export type Exceeded = 'too_slow' | 'hung'

/** A thread that has begun a task, with its CPU microseconds at that moment. */
export interface BegunTask {
  thread: Pick<Worker, 'cpuUsage'>
  beganUs: number
}

/** Minimum poll interval: a thread with a CPU of its own reaches its limit in one wait. */
const minWaitMs = 20

/**
 * Resolves to the first limit reached, or to undefined once `over` aborts or the thread is gone. `begun`
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

/** Undefined: it has ended, and its caller learns why. */
async function processorUs(thread: Pick<Worker, 'cpuUsage'>): Promise<number | undefined> {
  try {
    const { user, system } = await thread.cpuUsage()
    return user + system
  } catch (error) {
    if (codeOf(error) === 'ERR_WORKER_NOT_RUNNING') return undefined
    throw error
  }
}

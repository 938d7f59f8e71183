import { MessageChannel } from 'node:worker_threads'
import { Piscina } from 'piscina'
import type { Clock } from '#runtime/clock.ts'
import { codeOf } from '#runtime/errors.ts'
import { createPermits } from '../judge/permits.ts'
import type { Waiter } from '../judge/wait-queue.ts'
import type { Call } from '#detectors/call-text.ts'
import { countWaiting, type ScorerMetrics } from '../scorer-metrics.ts'
import type { ChosenScorers } from '../steps/choose-scorers.ts'
import { leaveUnscored, type OnVerdict } from '../steps/run-detectors.ts'
import type { ThreadReport, ThreadTask } from './detect-in-thread.ts'
import { watchThread, type BegunTask, type Exceeded } from '#runtime/watch-thread.ts'

/** Reads large calls off the event loop. */
export interface DetectorThreads {
  /**
   * Calls `onVerdict` once for each chosen detector and custom scorer. After the time limit the rest are
   * `too_slow` and the thread is replaced. Rejects when `signal` aborts.
   */
  run(
    chosen: ChosenScorers,
    call: Call,
    onVerdict: OnVerdict,
    who: Waiter,
    signal: AbortSignal,
  ): Promise<void>
  stop(): Promise<void>
}

interface ThreadsOptions {
  threads: number
  /** CPU time allowed to the detectors per call. */
  timeoutMs: number
  metrics: ScorerMetrics
  clock: Clock
}

/**
 * A body of 10 MiB takes about 300 MiB: strings, folded and decoded forms, caches. At the pod's limit (1 GiB)
 * the pod would be killed before the thread.
 */
const resourceLimits = { maxOldGenerationSizeMb: 400 }
/** Idle threads end, to free their memory. */
const idleTimeoutMs = 60_000

/** Wall-clock time per CPU time, at least a minute in all. Beyond it the thread hangs. */
const wallFactor = 12
const minWallMs = 60_000

export function createDetectorThreads(options: ThreadsOptions): DetectorThreads {
  const { threads, timeoutMs, metrics, clock } = options
  const limits = { processorMs: timeoutMs, wallMs: Math.max(minWallMs, wallFactor * timeoutMs) }
  // `isReplayEqual`: a replay waiting for the only thread would keep the permit and memory that live jobs
  // wait for.
  const permits = createPermits(threads, { isReplayEqual: true, onWaiting: countWaiting(metrics, 'thread') })
  let pool: Piscina | undefined
  // Created with the first large call: most processes never see one.
  const poolOf = () =>
    (pool ??= new Piscina({
      filename: new URL('detect-in-thread.ts', import.meta.url).href,
      name: 'detectInThread',
      minThreads: 0,
      maxThreads: threads,
      idleTimeout: idleTimeoutMs,
      resourceLimits,
    }))

  async function readInTime(
    chosen: ChosenScorers,
    call: Call,
    onVerdict: OnVerdict,
    signal: AbortSignal,
  ): Promise<void> {
    const missing = new Map(
      leaveUnscored({ ...chosen, criteria: [] }, 'too_slow').map((late) => [late.scorer, late]),
    )
    const note: OnVerdict = (found, seconds, defect) => {
      // Too late for a scorer already given up.
      if (missing.delete(found.scorer)) onVerdict(found, seconds, defect)
    }
    const [timeUp, over] = [new AbortController(), new AbortController()]
    const begun = Promise.withResolvers<BegunTask>()
    const watching = watchThread(begun.promise, limits, clock, over.signal).then((exceeded) => {
      if (exceeded !== undefined) timeUp.abort(exceeded)
    })
    try {
      const until = AbortSignal.any([signal, timeUp.signal])
      const work = readInThread(
        poolOf(),
        taskOf(chosen, call),
        { onBegin: begun.resolve, onVerdict: note },
        until,
      )
      // A thread that cannot be watched is given up, with the error that says why.
      await Promise.race([work, watching.then(() => work)])
      metrics.detectorThreads.inc({ outcome: 'read' })
    } catch (error) {
      signal.throwIfAborted()
      if (!timeUp.signal.aborted && !isOutOfMemory(error)) {
        timeUp.abort()
        throw error
      }
      const outcome = timeUp.signal.aborted ? (timeUp.signal.reason as Exceeded) : 'out_of_memory'
      metrics.detectorThreads.inc({ outcome })
      for (const late of missing.values()) note(late, timeoutMs / 1_000)
    } finally {
      over.abort()
    }
  }

  return {
    stop: () => pool?.destroy() ?? Promise.resolve(),
    // The time limit starts once there is a thread.
    run: (chosen, call, onVerdict, who, signal) =>
      permits.run(() => readInTime(chosen, call, onVerdict, signal), signal, who),
  }
}

/** Resolves once the thread has read the call. `onBegin` receives the thread. */
async function readInThread(
  pool: Piscina,
  task: Omit<ThreadTask, 'port'>,
  { onBegin, onVerdict }: { onBegin: (begun: BegunTask) => void; onVerdict: OnVerdict },
  signal: AbortSignal,
): Promise<void> {
  const { port1, port2 } = new MessageChannel()
  const done = Promise.withResolvers<undefined>()
  port1.on('message', (report: ThreadReport) => {
    if (report === 'done') done.resolve(undefined)
    else if ('threadId' in report) {
      const thread = pool.threads.find(({ threadId }) => threadId === report.threadId)
      // A thread that has ended is not watched.
      if (thread !== undefined) onBegin({ thread, beganUs: report.beganUs })
    } else onVerdict(report.found, report.seconds, report.defect)
  })
  try {
    await pool.run({ ...task, port: port2 }, { transferList: [port2], signal })
    await done.promise
  } finally {
    port1.close()
  }
}

export function taskOf(
  { builtIn, custom, failAt }: ChosenScorers,
  { request, response, usage }: Call,
): Omit<ThreadTask, 'port'> {
  return {
    builtIn,
    custom: custom.map(({ entry, version, isOfProject }) => ({ entry, version, isOfProject })),
    failAt,
    request: request?.json ?? null,
    response: response?.json ?? null,
    usage,
  }
}

/** The thread is gone and replaced; nothing else is affected. */
function isOutOfMemory(error: unknown): boolean {
  return codeOf(error) === 'ERR_WORKER_OUT_OF_MEMORY'
}

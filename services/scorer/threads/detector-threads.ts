import { MessageChannel } from 'node:worker_threads'
import { Piscina } from 'piscina'
import { codeOf } from '#runtime/errors.ts'
import { createPermits } from '../judge/permits.ts'
import type { Waiter } from '../judge/waiting-lines.ts'
import type { Call } from '../scoring/call-text.ts'
import { countWaiting, type ScorerMetrics } from '../scorer-metrics.ts'
import type { ChosenScorers } from '../steps/choose-scorers.ts'
import { leaveUnscored, type OnVerdict } from '../steps/run-detectors.ts'
import type { ThreadReport, ThreadTask } from './detect-in-thread.ts'

/** Reads large calls beside the event loop. */
export interface DetectorThreads {
  /**
   * Tells `onVerdict` one verdict of each chosen detector and custom scorer; those that are not through when the time is up are `too_slow`, and
   * the thread is replaced. Rejects when `signal` aborts.
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
  /** How long the detectors may work on one call. */
  timeoutMs: number
  metrics: ScorerMetrics
}

/**
 * A call's strings, their folded and decoded forms and what detectors remember of them: 10 MiB of body takes about 300 MiB. With as
 * much as a pod may have (1 GiB) the pod would end before the thread.
 */
const resourceLimits = { maxOldGenerationSizeMb: 400 }
/** An idle thread gives its memory back. */
const idleTimeoutMs = 60_000

export function createDetectorThreads({ threads, timeoutMs, metrics }: ThreadsOptions): DetectorThreads {
  // A replay that waited here for live ones to leave the only thread would keep the turn and the room that live ones wait for.
  const permits = createPermits(threads, { isReplayEqual: true, onWaiting: countWaiting(metrics, 'thread') })
  let pool: Piscina | undefined
  // Made with the first large call: most processes never see one.
  const poolOf = () =>
    (pool ??= new Piscina({
      filename: new URL('detect-in-thread.ts', import.meta.url).href,
      name: 'detectInThread',
      minThreads: 0,
      maxThreads: threads,
      idleTimeout: idleTimeoutMs,
      resourceLimits,
    }))

  async function work(
    task: Omit<ThreadTask, 'port'>,
    onVerdict: OnVerdict,
    signal: AbortSignal,
  ): Promise<void> {
    const { port1, port2 } = new MessageChannel()
    const done = Promise.withResolvers<undefined>()
    port1.on('message', (report: ThreadReport) => {
      if (report === 'done') done.resolve(undefined)
      else onVerdict(report.found, report.seconds, report.defect)
    })
    try {
      await poolOf().run({ ...task, port: port2 }, { transferList: [port2], signal })
      await done.promise
    } finally {
      port1.close()
    }
  }

  async function readInTime(
    chosen: ChosenScorers,
    call: Call,
    onVerdict: OnVerdict,
    signal: AbortSignal,
  ): Promise<void> {
    const missing = new Map(leaveUnscored(chosen, 'too_slow').map((late) => [late.scorer, late]))
    const note: OnVerdict = (found, seconds, defect) => {
      // What comes after its scorer was given up is too late.
      if (missing.delete(found.scorer)) onVerdict(found, seconds, defect)
    }
    const timeUp = new AbortController()
    const timer = setTimeout(() => timeUp.abort(), timeoutMs)
    try {
      await work(taskOf(chosen, call), note, AbortSignal.any([signal, timeUp.signal]))
      metrics.detectorThreads.inc({ outcome: 'read' })
    } catch (error) {
      signal.throwIfAborted()
      if (!timeUp.signal.aborted && !isOutOfMemory(error)) throw error
      metrics.detectorThreads.inc({ outcome: timeUp.signal.aborted ? 'too_slow' : 'out_of_memory' })
      for (const late of missing.values()) note(late, timeoutMs / 1_000)
    } finally {
      clearTimeout(timer)
    }
  }

  return {
    stop: () => pool?.destroy() ?? Promise.resolve(),
    // The time runs from when there is a thread for it.
    run: (chosen, call, onVerdict, who, signal) =>
      permits.run(() => readInTime(chosen, call, onVerdict, signal), signal, who),
  }
}

export function taskOf(
  { builtIn, custom, failAt }: ChosenScorers,
  { request, response, usage }: Call,
): Omit<ThreadTask, 'port'> {
  return {
    builtIn,
    custom: custom.map(({ entry }) => entry),
    failAt,
    request: request?.json ?? null,
    response: response?.json ?? null,
    usage,
  }
}

/** The thread is gone and replaced, and nothing else is harmed. */
function isOutOfMemory(error: unknown): boolean {
  return codeOf(error) === 'ERR_WORKER_OUT_OF_MEMORY'
}

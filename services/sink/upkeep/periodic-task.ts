import type { Clock } from '#runtime/clock.ts'
import { SluiceError } from '#runtime/errors.ts'
import type { Log } from '#runtime/log.ts'
import type { Metrics } from '#runtime/metrics.ts'
import type { Health, Service } from '#runtime/service.ts'

/** The shared round is not due yet. `endedAtMs`: when any sink last finished one. */
export interface NotDue {
  dueInMs: number
  endedAtMs: number | undefined
}

/** Whether there is more to do at once; or another sink was elected, with unknown success; or not due yet. */
export type RoundEnd = boolean | 'not_elected' | NotDue

export interface PeriodicTaskOptions {
  /** In logs and in health. */
  name: string
  /** Waits this long after a run that found no more to do. */
  intervalMs: number
  /** `signal` aborts when the task stops. */
  run: (signal: AbortSignal) => Promise<RoundEnd>
  clock: Clock
  log: Log
  metrics: Metrics
}

export interface PeriodicTask extends Service {
  /** Runs without waiting for the interval to end. Cheap; may be called at any time. */
  wake(): void
}

const firstBackoffMs = 500
const longestBackoffMs = 30_000
/** A wake-up ends a longer pause after this: who wakes a task has just had Postgres and Kafka. */
const wokenBackoffMs = 2_000

/**
 * Repeats `run` until stopped. Retries transient failures with a backoff of up to 30 s; any other failure
 * rejects `done`. `stop` waits for the current run.
 */
export function createPeriodicTask(options: PeriodicTaskOptions): PeriodicTask {
  const { name, intervalMs, run, clock, log } = options
  const ended = countRuns(options)
  const stopping = new AbortController()
  const finished = Promise.withResolvers<undefined>()
  let wakeUp = new AbortController()
  let status: Health['status'] = 'starting'
  let problem: string | undefined
  let loop: Promise<void> | undefined

  async function pause(delayMs: number, interruptible: boolean): Promise<void> {
    const signals = interruptible ? [stopping.signal, wakeUp.signal] : [stopping.signal]
    await clock.sleep(delayMs, AbortSignal.any(signals))
  }

  async function runUntilStopped(): Promise<void> {
    let failures = 0
    while (!stopping.signal.aborted) {
      wakeUp = new AbortController()
      try {
        const end = await run(stopping.signal)
        failures = 0
        problem = undefined
        ended(end)
        if (end !== true)
          await pause(typeof end === 'object' ? Math.min(end.dueInMs, intervalMs) : intervalMs, true)
      } catch (error) {
        ended('failed')
        if (!(error instanceof SluiceError) || error.retry === 'never') throw error
        const delayMs = Math.min(firstBackoffMs * 2 ** failures++, longestBackoffMs)
        problem = `${error.code}: ${error.message}`
        log.warn({ err: error, task: name, delay_ms: delayMs }, 'task failed and will be retried')
        await pause(Math.min(delayMs, wokenBackoffMs), false)
        await pause(Math.max(0, delayMs - wokenBackoffMs), true)
      }
    }
  }

  return {
    done: finished.promise,
    wake: () => wakeUp.abort(),
    start() {
      if (loop !== undefined || stopping.signal.aborted) return Promise.resolve()
      status = 'ok'
      loop = runUntilStopped().catch((error: unknown) => {
        status = 'failed'
        problem = String(error)
        finished.reject(error)
      })
      return Promise.resolve()
    },
    async stop() {
      stopping.abort()
      if (status !== 'failed') status = 'stopping'
      await loop
      finished.resolve(undefined)
    },
    health: () => {
      const now = status === 'ok' && problem !== undefined ? 'degraded' : status
      return problem === undefined ? { status: now } : { status: now, problems: { [name]: problem } }
    },
  }
}

/**
 * A task that stalls for any reason shows in the time of its last success. A sink that was not elected has
 * none. For a shared round it is the last success of any sink.
 */
function countRuns({ name: task, metrics, clock }: PeriodicTaskOptions) {
  const runs = metrics.counter(
    'sluice_sink_task_runs_total',
    'Rounds of periodic tasks, by how they ended.',
    ['task', 'outcome'],
  )
  const lastSuccess = metrics.gauge(
    'sluice_sink_task_last_success_timestamp_seconds',
    'When a round of the task last succeeded, or the process began.',
    ['task'],
  )
  runs.inc({ task, outcome: 'failed' }, 0)
  // Begins at the start of the process: a task that never succeeds must alert too.
  let lastMs: number
  const succeededAt = (timeMs: number) => {
    lastMs = timeMs
    lastSuccess.set({ task }, lastMs / 1_000)
  }
  succeededAt(clock.now())
  return (end: RoundEnd | 'failed') => {
    if (typeof end === 'object') {
      runs.inc({ task, outcome: 'not_due' })
      succeededAt(Math.max(lastMs, end.endedAtMs ?? 0))
      return
    }
    runs.inc({ task, outcome: typeof end === 'boolean' ? 'succeeded' : end })
    if (typeof end === 'boolean') succeededAt(clock.now())
  }
}

import type { Clock } from '#runtime/clock.ts'
import type { ScorerMetrics } from './scorer-metrics.ts'

/** Tracks the age of the oldest live job in progress: the first figure to look at when scores are late. */
export interface JobsUnderWay {
  /** Call the returned function when the job is done. */
  begin(queuedAtMs: number): () => void
  /** True while live jobs are late enough that replays must wait. */
  areLate(): boolean
  /** Calls `listener` about once a second, after each measurement. */
  onMeasured(listener: () => void): void
  start(): Promise<void>
  stop(): Promise<void>
}

const measureEveryMs = 1_000
/** Replays wait once the oldest live job reaches this age. */
const lateMs = 5_000

export function createJobsUnderWay(
  { oldestJobAgeSeconds, replayPaused }: Pick<ScorerMetrics, 'oldestJobAgeSeconds' | 'replayPaused'>,
  clock: Clock,
): JobsUnderWay {
  const jobs = new Set<{ queuedAtMs: number }>()
  const listeners: (() => void)[] = []
  let timer: NodeJS.Timeout | undefined
  const ageMs = () => {
    let oldestMs = Infinity
    for (const { queuedAtMs } of jobs) oldestMs = Math.min(oldestMs, queuedAtMs)
    return jobs.size === 0 ? 0 : Math.max(0, clock.now() - oldestMs)
  }
  const areLate = () => ageMs() > lateMs
  const measure = () => {
    oldestJobAgeSeconds.set(ageMs() / 1_000)
    replayPaused.set(areLate() ? 1 : 0)
    for (const listener of listeners) listener()
  }
  return {
    begin(queuedAtMs) {
      const job = { queuedAtMs }
      jobs.add(job)
      return () => jobs.delete(job)
    },
    areLate,
    onMeasured: (listener) => void listeners.push(listener),
    start() {
      timer ??= setInterval(measure, measureEveryMs).unref()
      return Promise.resolve()
    },
    stop() {
      clearInterval(timer)
      return Promise.resolve()
    },
  }
}

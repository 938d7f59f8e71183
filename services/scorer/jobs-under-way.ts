import type { Clock } from '#runtime/clock.ts'
import type { Gauge } from 'prom-client'

/** Knows how old the oldest job is that is being scored: what an operator asks first when scores are late. */
export interface JobsUnderWay {
  /** Call what it returns when the job is done. */
  begin(queuedAtMs: number): () => void
  start(): Promise<void>
  stop(): Promise<void>
}

const measureEveryMs = 1_000

export function createJobsUnderWay(age: Gauge, clock: Clock): JobsUnderWay {
  const jobs = new Set<{ queuedAtMs: number }>()
  let timer: NodeJS.Timeout | undefined
  const measure = () => {
    let oldestMs = Infinity
    for (const { queuedAtMs } of jobs) oldestMs = Math.min(oldestMs, queuedAtMs)
    age.set(jobs.size === 0 ? 0 : Math.max(0, clock.now() - oldestMs) / 1_000)
  }
  return {
    begin(queuedAtMs) {
      const job = { queuedAtMs }
      jobs.add(job)
      return () => jobs.delete(job)
    },
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

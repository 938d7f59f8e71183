import type { Worker } from 'node:cluster'
import type { ProcessDependencies } from '#runtime/run-process.ts'
import type { Health, Service } from '#runtime/service.ts'
import { createMetricTotals } from './metric-totals.ts'
import { createWorkerMetrics } from './worker-metrics.ts'
import { readMetrics } from './worker-report.ts'
import { WorkerSlot } from './worker-slot.ts'

/**
 * The gateway as several processes that share its port. This one serves no calls: it starts and restarts the
 * workers, and serves the operations port for all of them (docs/decisions/0030).
 */
export function createWorkerPool(
  count: number,
  fork: (worker: number) => Worker,
  { log, metrics, clock }: ProcessDependencies,
): Service {
  const totals = createMetricTotals()
  const { living, ended } = createWorkerMetrics(metrics)
  const done = Promise.withResolvers<undefined>()
  let slots: WorkerSlot[] = []
  let status: 'starting' | 'ok' | 'stopping' = 'starting'
  let stopped: Promise<void> | undefined

  const startSlot = (number: number) =>
    new WorkerSlot({
      number,
      fork,
      clock,
      log,
      onEnded: (last) => {
        if (status !== 'stopping') ended.inc()
        if (last !== undefined) void totals.retire(last.metrics)
      },
    })
  const stop = async () => {
    status = 'stopping'
    await Promise.all(slots.map((slot) => slot.stop()))
    done.resolve(undefined)
  }

  return {
    done: done.promise,
    async start() {
      slots = Array.from({ length: count }, (_, index) => startSlot(index + 1))
      await Promise.all(slots.map((slot) => slot.ready()))
      status = 'ok'
    },
    stop: () => (stopped ??= stop()),
    health: () => (status === 'ok' ? healthOf(slots) : { status }),
    metrics: async () => {
      const reports = slots.flatMap((slot) => slot.report() ?? [])
      living.set(reports.length)
      return totals.text([await readMetrics(metrics), ...reports.map((report) => report.metrics)])
    },
  }
}

/** Ready while at least one worker serves; reports the problems of each. */
function healthOf(slots: readonly WorkerSlot[]): Health {
  if (slots.every((slot) => slot.report() === undefined)) return { status: 'starting' }
  const problems = slots.flatMap((slot, index) => {
    const own = Object.entries(slot.report()?.health.problems ?? {})
    const problem = slot.problem()
    return [...(problem === null ? [] : [['process', problem] as const]), ...own].map(([part, why]) => [
      `worker_${index + 1}_${part}`,
      why,
    ])
  })
  return problems.length === 0
    ? { status: 'ok' }
    : { status: 'degraded', problems: Object.fromEntries(problems) as Record<string, string> }
}

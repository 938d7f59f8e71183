import type { Metrics } from '#runtime/metrics.ts'

/** Metrics of the primary process: the pool, or the single process that also serves calls. */
export function createWorkerMetrics(metrics: Metrics) {
  return {
    living: metrics.gauge('sluice_gateway_workers', 'Processes that serve calls.'),
    ended: metrics.counter('sluice_gateway_workers_ended_total', 'Processes that ended unexpectedly.'),
  }
}

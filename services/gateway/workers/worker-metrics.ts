import type { Metrics } from '#runtime/metrics.ts'

/** Of the process that answers for the gateway: the pool, or the one process that serves the calls itself. */
export function createWorkerMetrics(metrics: Metrics) {
  return {
    living: metrics.gauge('sluice_gateway_workers', 'Processes that serve calls.'),
    ended: metrics.counter(
      'sluice_gateway_workers_ended_total',
      'Processes that ended without being asked to.',
    ),
  }
}

import type { Metrics } from '../metrics.ts'

/** Why spans are lost. */
const lossReasons = ['queue_full', 'export_failed'] as const

export type TraceLosses = ReturnType<typeof createTraceLosses>

/** The metric of lost spans, from 0: alerts watch increases. */
export function createTraceLosses(metrics: Metrics) {
  const dropped = metrics.counter(
    'sluice_traces_dropped_total',
    "Spans of Sluice's own traces that were not exported: the queue was full, or the export failed.",
    ['reason'],
  )
  for (const reason of lossReasons) dropped.inc({ reason }, 0)
  return (reason: (typeof lossReasons)[number], spans: number) => dropped.inc({ reason }, spans)
}

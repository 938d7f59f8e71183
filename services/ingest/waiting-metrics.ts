import type { Metrics } from '#runtime/metrics.ts'

/** Counted where log records come, and where calls that have them are published. */
export function logRecordsCounter(metrics: Metrics) {
  return metrics.counter(
    'sluice_ingest_log_records_total',
    'Log records by what became of them: `waiting` for their span or joined, `other` (no words of a call), `unreadable`, `late` (their call was published before), `full` (beyond what may wait) or `not_kept` (zero content retention, a key that records no bodies, or SPAN_WAIT_MS is 0).',
    ['outcome'],
  )
}

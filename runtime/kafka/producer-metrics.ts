import type { Metrics } from '../metrics.ts'

export type ProducerMetrics = ReturnType<typeof createProducerMetrics>

const sendSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** The error codes with which a send rejects. */
const failureCodes = [
  'KAFKA_UNAVAILABLE',
  'KAFKA_REFUSED',
  'KAFKA_TOPIC_MISSING',
  'PRODUCER_BUFFER_FULL',
  'RECORD_TOO_LARGE',
  'UNKNOWN',
]

/** Shared by the producers of a process. */
export function createProducerMetrics(metrics: Metrics) {
  const failures = metrics.counter('sluice_producer_failures_total', 'Sends that were rejected, by code.', [
    'code',
  ])
  // Alerts use increases; a series that begins at 1 has none.
  for (const code of failureCodes) failures.inc({ code }, 0)
  return {
    failures,
    records: metrics.counter('sluice_producer_records_total', 'Records acknowledged by Kafka.', ['topic']),
    bytes: metrics.counter(
      'sluice_producer_bytes_total',
      'Key, value and header bytes of acknowledged records, before compression.',
      ['topic'],
    ),
    batches: metrics.counter('sluice_producer_batches_total', 'Requests to send, each of many records.'),
    resends: metrics.counter(
      'sluice_producer_resends_total',
      'Topic-partitions sent again: `missing` in an acknowledgement, or the whole request `failed`.',
      ['reason'],
    ),
    connectionsReplaced: metrics.counter(
      'sluice_producer_connections_replaced_total',
      'Producer ids given up after something went wrong with them.',
    ),
    bufferedBytes: metrics.gauge('sluice_producer_buffered_bytes', 'Bytes that wait for an acknowledgement.'),
    sendSeconds: metrics.histogram(
      'sluice_producer_send_seconds',
      'From send to acknowledgement.',
      sendSeconds,
    ),
  }
}

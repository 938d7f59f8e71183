import { systemClock, type Clock } from '../clock.ts'
import type { Outcome } from '../outcome.ts'
import { whenAsked, type Metrics } from '../metrics.ts'
import type { SluiceError } from '../errors.ts'

/** What both consumers count. Topics, groups, codes and reasons are fixed sets. */
export interface ConsumerMetrics {
  handled(topic: string, outcome: Outcome): void
  deadLettered(topic: string, error: SluiceError): void
  retried(topic: string, error: SluiceError): void
  skipped(topic: string, records: number): void
  handlerSeconds(topic: string, seconds: number): void
  batchRecords(topic: string, records: number): void
  inFlight(records: number): void
  /** Records of the partition that the group has not finished. */
  lag(topic: string, partition: number, records: number): void
  /**
   * When the partition's oldest unfinished record was written, in Unix milliseconds; null: none is
   * unfinished.
   */
  oldestUnfinished(topic: string, partition: number, bornMs: number | null): void
  /** Whether the group cannot be joined because no broker answers. */
  waiting(isWaiting: boolean): void
  /** Another member has the partitions now and reports their lag. */
  forgetLag(): void
}

const secondsBuckets = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 30, 120]
const recordsBuckets = [1, 10, 50, 100, 500, 1_000, 5_000]

function declare(metrics: Metrics) {
  return {
    records: metrics.counter('sluice_kafka_records_total', 'Records handled, by outcome', [
      'group',
      'topic',
      'outcome',
    ]),
    dropped: metrics.counter('sluice_kafka_dropped_records_total', 'Records dropped on purpose', [
      'topic',
      'reason',
    ]),
    letters: metrics.counter('sluice_kafka_dead_letters_total', 'Records dead-lettered', ['topic', 'code']),
    retries: metrics.counter('sluice_kafka_retries_total', 'Attempts that failed transiently', [
      'group',
      'topic',
      'code',
    ]),
    skipped: metrics.counter(
      'sluice_kafka_skipped_records_total',
      'Records that were gone before they were read',
      ['topic'],
    ),
    seconds: metrics.histogram('sluice_kafka_handler_seconds', 'Time in the handler', secondsBuckets, [
      'group',
      'topic',
    ]),
    sizes: metrics.histogram(
      'sluice_kafka_batch_records',
      'Records given to a handler at once',
      recordsBuckets,
      ['group', 'topic'],
    ),
    inFlight: metrics.gauge('sluice_kafka_in_flight_records', 'Records being worked on', ['group']),
    unreached: metrics.gauge(
      'sluice_kafka_unreached',
      '1: a consumer that starts waits for a broker to answer, or for a topic',
      ['group'],
    ),
    lag: metrics.gauge('sluice_kafka_lag_records', 'Records not finished in the assigned partitions', [
      'group',
      'topic',
    ]),
    oldest: metrics.gauge(
      'sluice_kafka_oldest_unfinished_age_seconds',
      'Age of the oldest unfinished record',
      ['group', 'topic'],
    ),
  }
}

export function createConsumerMetrics(
  metrics: Metrics,
  group: string,
  clock: Clock = systemClock,
): ConsumerMetrics {
  const { records, dropped, letters, retries, skipped, seconds, sizes, inFlight, unreached, lag, oldest } =
    declare(metrics)
  const lags = new Map<string, Map<number, number>>()
  const births = new Map<string, Map<number, number>>()
  // Computed on each scrape: a record that is retried grows older while nothing else happens.
  whenAsked(oldest, () => {
    for (const [topic, partitions] of births) {
      const bornMs = Math.min(...partitions.values(), clock.now())
      oldest.set({ group, topic }, (clock.now() - bornMs) / 1_000)
    }
  })
  // Alerts use increases; a series that begins at 1 has none.
  const beginAtZero = (topic: string) => {
    records.inc({ group, topic, outcome: 'dead_letter' }, 0)
    skipped.inc({ topic }, 0)
    return new Map<number, number>()
  }
  return {
    handled(topic, outcome) {
      records.inc({ group, topic, outcome: outcome.kind })
      if (outcome.kind === 'drop') dropped.inc({ topic, reason: outcome.reason })
    },
    deadLettered(topic, error) {
      records.inc({ group, topic, outcome: 'dead_letter' })
      letters.inc({ topic, code: error.code })
    },
    retried: (topic, error) => retries.inc({ group, topic, code: error.code }),
    skipped: (topic, count) => skipped.inc({ topic }, count),
    handlerSeconds: (topic, value) => seconds.observe({ group, topic }, value),
    batchRecords: (topic, count) => sizes.observe({ group, topic }, count),
    inFlight: (count) => inFlight.set({ group }, count),
    waiting: (isWaiting) => unreached.set({ group }, isWaiting ? 1 : 0),
    lag(topic, partition, count) {
      const partitions = lags.get(topic) ?? beginAtZero(topic)
      lags.set(topic, partitions.set(partition, Math.max(0, count)))
      lag.set({ group, topic }, sum(partitions.values()))
    },
    oldestUnfinished(topic, partition, bornMs) {
      const partitions = births.get(topic) ?? new Map<number, number>()
      births.set(topic, partitions)
      if (bornMs === null) partitions.delete(partition)
      else partitions.set(partition, bornMs)
    },
    forgetLag() {
      for (const partitions of births.values()) partitions.clear()
      for (const topic of lags.keys()) lag.set({ group, topic }, 0)
      lags.clear()
    },
  }
}

function sum(values: Iterable<number>): number {
  let total = 0
  for (const value of values) total += value
  return total
}

import type { Kafka } from 'kafkajs'
import { systemClock, type Clock } from '../clock.ts'
import { PermanentError, SluiceError, TransientError } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import type { Health, Service } from '../service.ts'
import type { Tracing } from '../tracing/tracing.ts'
import { createPartitionCounts } from './partition-counts.ts'
import { PendingSend } from './pending-send.ts'
import type { Compression } from './producer-connection.ts'
import { ProducerLane } from './producer-lane.ts'
import { createProducerMetrics, type ProducerMetrics } from './producer-metrics.ts'
import { bytesOf, QueuedRecord } from './queued-record.ts'
import { SendBuffer } from './send-buffer.ts'
import type { OutgoingRecord, Producer } from './records.ts'
import { traceSends } from './trace-sends.ts'

export interface ProducerOptions {
  kafka: Kafka
  log: Log
  metrics: Metrics
  clock?: Clock
  /** How long `send` waits for an acknowledgement before it rejects with KAFKA_UNAVAILABLE. */
  sendTimeoutMs?: number
  /** Bytes that may wait for an acknowledgement; beyond, `send` rejects with PRODUCER_BUFFER_FULL. */
  maxBufferedBytes?: number
  /** Larger records are refused locally. Each topic has its own, lower limit. */
  maxRecordBytes?: number | undefined
  /** How long a request waits for more records. 0: one turn of the event loop. */
  lingerMs?: number
  /** Concurrent requests, each with the records of other keys. */
  maxInFlight?: number
  maxBatchRecords?: number
  maxBatchBytes?: number
  /** Default: zstd. */
  compression?: Compression
  tracing?: Tracing | undefined
}

type Settings = Required<Omit<ProducerOptions, 'tracing'>> & { maxRecordBytes: number }

const mebibyte = 1024 * 1024
const defaults = {
  clock: systemClock,
  sendTimeoutMs: 20_000,
  maxBufferedBytes: 64 * mebibyte,
  maxRecordBytes: 32 * mebibyte,
  lingerMs: 0,
  maxInFlight: 2,
  // kafkajs copies a partition's list for every record added, so much larger batches cost more than they
  // save.
  maxBatchRecords: 500,
  maxBatchBytes: 4 * mebibyte,
  compression: 'zstd' as Compression,
}

/**
 * The producer of every service: idempotent, `acks=all`, compressed. Concurrent sends share requests;
 * records of a key keep their order. A record whose `send` resolved is in the log, also when brokers die (see
 * producer-connection.ts); after a failure it can be there twice. `start` does not wait for Kafka: until
 * Kafka answers, sends reject with KAFKA_UNAVAILABLE.
 */
export function createProducer(options: ProducerOptions): Producer & Pick<Service, 'health'> {
  const { maxRecordBytes = defaults.maxRecordBytes, maxBatchBytes = defaults.maxBatchBytes } = options
  const producer = new BatchingProducer({
    ...defaults,
    ...options,
    maxRecordBytes,
    maxBatchBytes: Math.min(maxBatchBytes, maxRecordBytes),
  })
  return traceSends(producer, options.tracing)
}

/** After this time one failure no longer counts as degraded, for a producer that seldom sends. */
const troubleMs = 60_000

class BatchingProducer implements Producer {
  readonly #options: Settings
  readonly #metrics: ProducerMetrics
  readonly #buffer: SendBuffer
  readonly #lanes: readonly ProducerLane[]
  #stopped: Promise<void> | undefined
  #trouble: { reason: string; atMs: number } | undefined

  constructor(options: Settings) {
    const { kafka, clock, log, maxInFlight, maxBufferedBytes } = options
    const metrics = createProducerMetrics(options.metrics)
    const partitionCounts = createPartitionCounts(kafka, clock)
    this.#options = options
    this.#metrics = metrics
    this.#buffer = new SendBuffer(maxBufferedBytes, log, metrics)
    this.#lanes = Array.from(
      { length: maxInFlight },
      () => new ProducerLane({ ...options, metrics, partitionCounts }),
    )
  }

  start(): Promise<void> {
    return Promise.resolve()
  }

  stop(): Promise<void> {
    this.#stopped ??= Promise.all(this.#lanes.map((lane) => lane.close())).then(() => undefined)
    return this.#stopped
  }

  health(): Health {
    const { reason, atMs } = this.#trouble ?? { reason: '', atMs: -Infinity }
    if (this.#options.clock.now() - atMs > troubleMs) return { status: 'ok' }
    return { status: 'degraded', problems: { kafka: reason } }
  }

  async send(records: readonly OutgoingRecord[]): Promise<void> {
    if (records.length === 0) return
    const observe = this.#metrics.sendSeconds.startTimer()
    const sizes = records.map(bytesOf)
    try {
      await this.#enqueue(records, sizes)
    } catch (error) {
      this.#metrics.failures.inc({ code: error instanceof SluiceError ? error.code : 'UNKNOWN' })
      if (error instanceof TransientError)
        this.#trouble = { reason: error.message, atMs: this.#options.clock.now() }
      throw error
    }
    this.#trouble = undefined
    observe()
    this.#count(records, sizes)
  }

  #count(records: readonly OutgoingRecord[], sizes: readonly number[]): void {
    const counts = new Map<string, { records: number; bytes: number }>()
    records.forEach(({ topic }, index) => {
      const count = counts.get(topic) ?? { records: 0, bytes: 0 }
      counts.set(topic, count)
      count.records++
      count.bytes += sizes[index] ?? 0
    })
    for (const [topic, count] of counts) {
      this.#metrics.records.inc({ topic }, count.records)
      this.#metrics.bytes.inc({ topic }, count.bytes)
    }
  }

  async #enqueue(records: readonly OutgoingRecord[], sizes: readonly number[]): Promise<void> {
    const { sendTimeoutMs, clock } = this.#options
    if (this.#stopped !== undefined) throw new TransientError('KAFKA_UNAVAILABLE', 'the producer is stopping')
    this.#refuseTooLarge(records, sizes)
    this.#buffer.add(sizes.reduce((sum, size) => sum + size, 0))
    const send = new PendingSend(records.length, sendTimeoutMs, () => this.#late())
    const deadlineMs = clock.now() + sendTimeoutMs
    records.forEach((record, index) => {
      const queued = new QueuedRecord(record, {
        send,
        buffer: this.#buffer,
        bytes: sizes[index] ?? 0,
        deadlineMs,
      })
      this.#lanes[(queued.keyHash & 0x7fff_ffff) % this.#lanes.length]?.add(queued)
    })
    await send.done
  }

  #refuseTooLarge(records: readonly OutgoingRecord[], sizes: readonly number[]): void {
    const { maxRecordBytes } = this.#options
    const at = sizes.findIndex((size) => size > maxRecordBytes)
    if (at === -1) return
    const message = `a record of ${sizes[at] ?? 0} bytes for topic ${records[at]?.topic ?? ''} is over ${maxRecordBytes}`
    throw new PermanentError('RECORD_TOO_LARGE', message)
  }

  #late(): TransientError {
    const problem = this.#lanes.find((lane) => lane.problem !== undefined)?.problem ?? 'it is slow'
    const message = `Kafka did not acknowledge within ${this.#options.sendTimeoutMs} ms: ${problem}`
    return new TransientError('KAFKA_UNAVAILABLE', message)
  }
}

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Kafka } from 'kafkajs'
import type { Clock } from '../clock.ts'
import { messageOf, SluiceError } from '../errors.ts'
import type { Log } from '../log.ts'
import { gatherBatch, splitBatch, type BatchLimits, type Group } from './gather-batch.ts'
import type { PartitionCounts } from './partition-counts.ts'
import { openProducerConnection, type Compression, type ProducerConnection } from './producer-connection.ts'
import type { ProducerMetrics } from './producer-metrics.ts'
import { isRefusal, refusal } from './protocol-errors.ts'
import type { QueuedRecord } from './queued-record.ts'

export interface LaneOptions extends BatchLimits {
  kafka: Kafka
  partitionCounts: PartitionCounts
  clock: Clock
  log: Log
  metrics: ProducerMetrics
  /** 0: records of one turn of the event loop go together. */
  lingerMs: number
  compression?: Compression
}

type Attempt =
  | { kind: 'acknowledged'; missing: Group[]; retried: boolean }
  | { kind: 'refused'; error: unknown }
  | { kind: 'failed'; reason: string }

const firstBackoffMs = 50
const maxBackoffMs = 1_000
/** An abandoned connection closes only after its request has timed out. */
const closeDeadlineMs = 3_000

/**
 * Sends one request at a time, so that records of a key keep their order. Records that arrive meanwhile form
 * the next request: under load, requests grow without a timer.
 */
export class ProducerLane {
  readonly #options: LaneOptions
  readonly #closing = new Set<Promise<void>>()
  #queue: QueuedRecord[] = []
  #pumping: Promise<void> | undefined
  #connection: ProducerConnection
  #backoffMs = 0
  /** Why records are waiting, while they are. */
  problem: string | undefined

  constructor(options: LaneOptions) {
    this.#options = options
    this.#connection = openProducerConnection(options.kafka, options.log, options.compression)
  }

  add(record: QueuedRecord): void {
    this.#queue.push(record)
    this.#pumping ??= this.#pump()
  }

  /** Resolves when every added record is written or abandoned and the connections are closed. */
  async close(): Promise<void> {
    await this.#pumping
    this.#closing.add(this.#connection.close())
    const timer = new AbortController()
    const timeIsUp = this.#options.clock.sleep(closeDeadlineMs, timer.signal)
    await Promise.race([Promise.all(this.#closing), timeIsUp])
    timer.abort()
  }

  async #pump(): Promise<void> {
    while (this.#queue.length > 0) {
      if (this.#options.lingerMs > 0) await this.#options.clock.sleep(this.#options.lingerMs)
      else await nextTurn()
      const groups = await this.#take()
      if (groups.length > 0) await this.#deliver(groups)
    }
    this.#pumping = undefined
  }

  async #take(): Promise<Group[]> {
    this.#queue = this.#queue.filter(giveUpUnwanted)
    const partitions = new Map<string, number>()
    for (const topic of new Set(this.#queue.map((record) => record.topic))) {
      try {
        partitions.set(topic, await this.#options.partitionCounts.of(topic))
      } catch (error) {
        if (!(error instanceof SluiceError)) throw error
        if (error.code === 'KAFKA_UNAVAILABLE') {
          await this.#wait(error.message)
          return []
        }
        this.#queue = this.#queue.filter((record) => {
          if (record.topic === topic) record.failed(error)
          return record.topic !== topic
        })
      }
    }
    const { groups, taken } = gatherBatch(this.#queue, partitions, this.#options)
    this.#queue = this.#queue.slice(taken)
    return groups
  }

  /** Sends until everything is acknowledged, or no sender waits for the rest. */
  async #deliver(groups: Group[]): Promise<void> {
    let waiting = groups
    let worn = false
    while (waiting.some(isWanted)) {
      const attempt = await this.#attempt(waiting)
      if (attempt.kind === 'refused') {
        this.#renewConnection()
        await this.#deliverApart(waiting, attempt.error)
        return
      }
      if (attempt.kind === 'failed') {
        this.#renewConnection()
        worn = false
        await this.#again('failed', waiting, attempt.reason)
        waiting = waiting.flatMap(withoutUnwanted)
      } else {
        // Resend under the same producer id, so that the broker drops duplicates.
        waiting = attempt.missing
        worn ||= attempt.retried || waiting.length > 0
        if (waiting.length === 0) this.#recovered()
        else await this.#again('missing', waiting, 'the acknowledgement does not name every partition')
      }
    }
    waiting.forEach(giveUp)
    if (worn || waiting.length > 0) this.#renewConnection()
  }

  async #attempt(groups: readonly Group[]): Promise<Attempt> {
    const { clock, metrics } = this.#options
    metrics.batches.inc()
    const deadlineMs = Math.max(
      ...groups.flatMap(({ records }) => records.map((record) => record.deadlineMs)),
    )
    const timer = new AbortController()
    const timeIsUp = clock.sleep(deadlineMs - clock.now(), timer.signal).then(() => undefined)
    try {
      const answer = await Promise.race([this.#connection.send(groups), timeIsUp])
      if (answer === undefined) return { kind: 'failed', reason: 'no answer' }
      const written = new Set(answer.acknowledged)
      for (const { records } of written) records.forEach((record) => record.written())
      return {
        kind: 'acknowledged',
        missing: groups.filter((group) => !written.has(group)),
        retried: answer.retried,
      }
    } catch (error) {
      return isRefusal(error) ? { kind: 'refused', error } : { kind: 'failed', reason: messageOf(error) }
    } finally {
      timer.abort()
    }
  }

  /** Finds a refused record by sending smaller and smaller batches; its neighbours are written. */
  async #deliverApart(groups: readonly Group[], error: unknown): Promise<void> {
    const parts = splitBatch(groups)
    for (const part of parts ?? []) await this.#deliver(part)
    if (parts !== undefined) return
    for (const { topic, records } of groups) {
      records.forEach((record) => record.failed(refusal(topic, error)))
    }
  }

  async #again(kind: 'missing' | 'failed', groups: readonly Group[], reason: string): Promise<void> {
    this.#options.metrics.resends.inc({ reason: kind }, groups.length)
    for (const { topic } of groups) this.#options.partitionCounts.forget(topic)
    await this.#wait(reason)
  }

  async #wait(reason: string): Promise<void> {
    if (this.problem === undefined)
      this.#options.log.warn({ reason }, 'Kafka does not accept records; retrying')
    this.problem = reason
    this.#backoffMs = Math.min(maxBackoffMs, Math.max(firstBackoffMs, this.#backoffMs * 2))
    await this.#options.clock.sleep(this.#backoffMs)
  }

  #recovered(): void {
    if (this.problem !== undefined) this.#options.log.info('Kafka accepts records again')
    this.problem = undefined
    this.#backoffMs = 0
  }

  #renewConnection(): void {
    this.#options.metrics.connectionsReplaced.inc()
    const closed = this.#connection.close().finally(() => this.#closing.delete(closed))
    this.#closing.add(closed)
    this.#connection = openProducerConnection(
      this.#options.kafka,
      this.#options.log,
      this.#options.compression,
    )
  }
}

function isWanted({ records }: Group): boolean {
  return records.some((record) => record.wanted)
}

function withoutUnwanted(group: Group): Group[] {
  const records = group.records.filter(giveUpUnwanted)
  return records.length === 0 ? [] : [{ ...group, records }]
}

/** Whether a sender still waits for the record. If none does, the record is abandoned. */
function giveUpUnwanted(record: QueuedRecord): boolean {
  if (record.wanted) return true
  record.abandon()
  return false
}

function giveUp({ records }: Group): void {
  records.forEach((record) => record.abandon())
}

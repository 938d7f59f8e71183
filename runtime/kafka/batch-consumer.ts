import type { EachBatchPayload, Kafka } from 'kafkajs'
import { systemClock, type Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import type { Health, Service } from '../service.ts'
import { defaultGroupSettings, partitionKey, type Assigned, type GroupSettings } from './assignment.ts'
import { createConsumerMetrics, type ConsumerMetrics } from './consumer-metrics.ts'
import { createTroubles, isBug, reportSuspects, type Troubles } from './consumer-state.ts'
import { MAX_TRIES, restingMark, workingMark, type CrashMark } from './crash-marks.ts'
import { createDeadLetters, type SendDeadLetters } from './dead-letters.ts'
import { AssignmentLost, isRebalance } from './group-errors.ts'
import { GroupMember } from './group-member.ts'
import { handleChunk } from './handle-chunk.ts'
import { crashed } from './handle-record.ts'
import { beatWhile } from './heartbeat.ts'
import { isCrashed, planChunks, type Chunk } from './plan-chunks.ts'
import type { DecoderChoice, RawRecord } from './raw-record.ts'
import type { BatchHandler, Producer } from './records.ts'
import {
  defaultRetryPolicy,
  Interrupted,
  Postponed,
  retryTransient,
  type RetryContext,
  type RetryPolicy,
} from './retry-policy.ts'
import { traceBatches, type Traced } from './trace-handlers.ts'

export interface BatchConsumerOptions<T> extends Traced {
  kafka: Kafka
  /** With TOPIC_PREFIX, as in the topics. */
  groupId: string
  topics: readonly string[]
  decoder: DecoderChoice<T>
  handler: BatchHandler<T>
  /** Sends dead letters. Its owner starts it, and stops it after this consumer. */
  producer: Producer
  log: Log
  metrics: Metrics
  clock?: Clock
  /** The maximum that one call of the handler gets. */
  maxBatchRecords?: number
  maxBatchBytes?: number
  /** How many partitions are handled at the same time. */
  partitionsConcurrently?: number
  retry?: RetryPolicy
  group?: Partial<GroupSettings>
  /** Topics whose content must not be kept: their dead letters have no value. */
  omitDeadLetterValue?: (topic: string) => boolean
  /** Sends records that cannot be handled; absent: to `<topic>.dlq`. */
  sendDeadLetters?: SendDeadLetters
}

/**
 * A batch that fails for longer is postponed: kafkajs fetches nothing more from a broker until its last fetch
 * is handled.
 */
const patienceMs = 1_000

/**
 * Gives a handler the records of one partition at a time, in order. Moves the offset once the handler has
 * finished and every dead letter is acknowledged: at least once, none skipped. README.md says how outcomes
 * and errors apply.
 */
export function createBatchConsumer<T>(options: BatchConsumerOptions<T>): Service {
  const consumer = new BatchConsumer(traceBatches(options))
  return {
    start: () => consumer.member.start(),
    stop: () => consumer.member.leave(),
    health: () => consumer.health(),
    done: consumer.member.done,
  }
}

class BatchConsumer<T> {
  readonly member: GroupMember
  readonly #options: BatchConsumerOptions<T>
  readonly #settings: GroupSettings
  readonly #metrics: ConsumerMetrics
  readonly #troubles: Troubles
  readonly #sendDeadLetters: SendDeadLetters
  readonly #clock: Clock
  /** Partitions that wait for another attempt while others are handled, with their failed attempts. */
  readonly #postponed = new Map<string, number>()
  /**
   * Records in their last try run one after the other, so that one that kills the process takes no other with
   * it.
   */
  #lastTry: Promise<void> = Promise.resolve()
  /** Records in the handler, of all partitions. */
  #underWay = 0

  constructor(options: BatchConsumerOptions<T>) {
    const { groupId, log, producer } = options
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#settings = { ...defaultGroupSettings, ...options.group }
    this.#metrics = createConsumerMetrics(options.metrics, groupId, this.#clock)
    const policy = options.retry ?? defaultRetryPolicy
    this.#troubles = createTroubles({ groupId, policy, clock: this.#clock, log, metrics: this.#metrics })
    const omitValue = options.omitDeadLetterValue ?? (() => false)
    this.#sendDeadLetters =
      options.sendDeadLetters ??
      createDeadLetters({ producer, groupId, clock: this.#clock, log, omitValue, metrics: this.#metrics })
    this.member = new GroupMember({
      ...options,
      settings: this.#settings,
      partitionsConcurrently: options.partitionsConcurrently ?? 1,
      metrics: this.#metrics,
      onWaiting: (reason) => this.#troubles.waiting(reason),
      onAssigned: (assigned) => {
        reportSuspects(assigned, log)
      },
      onPartitionsAssigned: () => this.#forgetPostponed(),
      onBatch: (payload, assigned) => this.#work(payload, assigned),
      onFailed: () =>
        void this.member
          .leave()
          .catch((error: unknown) => log.warn({ err: error }, 'leaving the group failed')),
    })
  }

  health(): Health {
    return this.#troubles.health(this.member.phase)
  }

  async #work(payload: EachBatchPayload, assigned: Assigned): Promise<void> {
    const heartbeat = beatWhile(payload, this.#settings.heartbeatIntervalMs, this.member.stopping)
    try {
      await this.#workThrough(payload, assigned, heartbeat.ended)
    } catch (error) {
      if (isRebalance(error)) throw error
      if (error instanceof Postponed) this.#postpone(assigned, error)
      else if (!(error instanceof AssignmentLost) && !(error instanceof Interrupted)) this.member.fail(error)
    } finally {
      heartbeat.stop()
      const key = partitionKey(assigned)
      if (!this.#postponed.has(key)) this.#troubles.over(key)
    }
    // kafkajs joins again when it sees the heartbeat's error.
    const rebalance = heartbeat.rebalance()
    if (rebalance) throw rebalance
  }

  /** Fetches nothing of the partition until its next attempt is due; its trouble lasts until then. */
  #postpone(assigned: Assigned, { failedAttempts, delayMs }: Postponed): void {
    const { member } = this
    if (!member.isCurrent(assigned)) return
    this.#postponed.set(partitionKey(assigned), failedAttempts)
    member.pause(assigned)
    void this.#clock.sleep(delayMs, member.stopping).then(() => {
      if (!member.stopping.aborted && member.isCurrent(assigned)) member.resume(assigned)
    })
  }

  /** After a rebalance these partitions start over, here or elsewhere. */
  #forgetPostponed(): void {
    for (const key of this.#postponed.keys()) this.#troubles.over(key)
    this.#postponed.clear()
  }

  async #workThrough(payload: EachBatchPayload, assigned: Assigned, signal: AbortSignal): Promise<void> {
    const { topic, partition, messages, highWatermark } = payload.batch
    const records = messages.map((message): RawRecord => ({
      topic,
      partition,
      offset: BigInt(message.offset),
      message,
    }))
    const { maxBatchRecords = 1_000, maxBatchBytes = 16 * 1024 * 1024 } = this.#options
    const chunks = planChunks(records, assigned.suspects, {
      maxRecords: maxBatchRecords,
      maxBytes: maxBatchBytes,
    })
    const over = () => signal.aborted || !payload.isRunning() || payload.isStale()
    let reached = { next: assigned.next, marked: false }
    for (const [index, chunk] of chunks.entries()) {
      const first = chunk.records[0]?.offset ?? assigned.next
      const last = chunk.records.at(-1)?.offset ?? first
      const through = await this.#inTurn(chunk, async () => {
        if (over()) {
          if (reached.marked) await this.#rest(assigned, reached.next)
          return null
        }
        if (!reached.marked && !isCrashed(chunk))
          await this.member.commit([{ assigned, offset: first, mark: markOf(chunk, assigned) }])
        await this.#finishChunk(chunk, assigned, first, last + 1n, signal)
        const next = this.member.advance(payload, assigned, last)
        const lag = Number(BigInt(highWatermark) - next)
        this.#metrics.lag(topic, partition, lag)
        // The next record was written at about the same time, or a little later.
        if (lag <= 0) this.#metrics.oldestUnfinished(topic, partition, null)
        // One commit ends this chunk and marks the next, unless the next has to wait for its turn.
        const following = over() ? undefined : chunks[index + 1]
        const mark = following && following.tries < MAX_TRIES ? markOf(following, assigned) : null
        const resting = restingMark(assigned.suspects, next)
        await this.member.commit([{ assigned, offset: next, mark: mark ?? resting }])
        return { next, marked: mark !== null }
      })
      if (through === null) return
      reached = through
    }
  }

  /** A clean end removes the mark. It stays when the process dies, or on a bug that the record triggers. */
  async #finishChunk(
    chunk: Chunk,
    assigned: Assigned,
    first: bigint,
    nextOffset: bigint,
    signal: AbortSignal,
  ): Promise<void> {
    this.#metrics.inFlight((this.#underWay += chunk.records.length))
    try {
      await this.#handle(chunk, assigned, nextOffset, signal)
    } catch (error) {
      if (!isBug(error)) {
        await this.#rest(assigned, first).catch((failure: unknown) => {
          this.#options.log.warn({ err: failure }, 'clearing a crash mark failed')
        })
      }
      throw error
    } finally {
      this.#metrics.inFlight((this.#underWay -= chunk.records.length))
    }
  }

  async #handle(chunk: Chunk, assigned: Assigned, nextOffset: bigint, signal: AbortSignal): Promise<void> {
    const { topic, partition } = assigned
    const key = partitionKey(assigned)
    const failedBefore = this.#postponed.get(key) ?? 0
    const retry = { ...this.#troubles.context(key, topic, signal), failedBefore, patienceMs }
    const startedMs = this.#clock.now()
    const bornMs = Number(chunk.records[0]?.message.timestamp ?? startedMs)
    this.#metrics.oldestUnfinished(topic, partition, bornMs)
    if (isCrashed(chunk)) await this.#giveUp(chunk, retry)
    else {
      const position = { cluster: this.member.clusterId, topic, partition, nextOffset }
      const { decoder, handler } = this.#options
      await handleChunk(chunk.records, position, retry, {
        decoder,
        handler,
        sendDeadLetters: this.#sendDeadLetters,
        metrics: this.#metrics,
      })
    }
    this.#postponed.delete(key)
    this.#troubles.over(key)
    this.#metrics.handlerSeconds(topic, (this.#clock.now() - startedMs) / 1_000)
  }

  async #rest(assigned: Assigned, offset: bigint): Promise<void> {
    await this.member.commit([{ assigned, offset, mark: restingMark(assigned.suspects, offset) }])
  }

  async #giveUp(chunk: Chunk, retry: RetryContext): Promise<void> {
    const error = crashed()
    const letters = chunk.records.map((raw) => ({ raw, error }))
    await retryTransient(() => this.#sendDeadLetters(letters), retry)
  }

  /** A last try runs alone from its mark to its end; several that are marked together would all be blamed. */
  async #inTurn<R>(chunk: Chunk, work: () => Promise<R>): Promise<R> {
    if (chunk.tries !== MAX_TRIES) return work()
    const turn = this.#lastTry.then(work)
    this.#lastTry = turn.then(
      () => undefined,
      () => undefined,
    )
    return turn
  }
}

function markOf(chunk: Chunk, { suspects, next, writer }: Assigned): CrashMark {
  const first = chunk.records[0]?.offset ?? next
  const last = chunk.records.at(-1)?.offset ?? first
  return workingMark(suspects, first, { writer, until: last + 1n })
}

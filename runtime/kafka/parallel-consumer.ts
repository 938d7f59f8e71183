import type { EachBatchPayload, Kafka } from 'kafkajs'
import { systemClock, type Clock } from '../clock.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import type { Health, Service } from '../service.ts'
import { defaultGroupSettings, partitionKey, type Assigned, type GroupSettings } from './assignment.ts'
import { createConsumerMetrics, type ConsumerMetrics } from './consumer-metrics.ts'
import { createTroubles, isBug, reportSuspects, type Troubles } from './consumer-state.ts'
import { createDeadLetters } from './dead-letters.ts'
import { DueTimes } from './due-times.ts'
import { GroupMember } from './group-member.ts'
import { createRecordRunner, type RunRecord } from './handle-record.ts'
import { createGroupRunner, type RunTogether } from './handle-together.ts'
import { oncePerTurn } from './once-per-turn.ts'
import { grantLastTry, PartitionWork, reportProgress, type Places, type Waiting } from './partition-work.ts'
import { ProgressCommits } from './progress-commits.ts'
import type { DecoderChoice, RawRecord } from './raw-record.ts'
import type { ConsumedRecord, GroupHandler, Producer, RecordHandler } from './records.ts'
import { defaultRetryPolicy, Interrupted, type RetryPolicy } from './retry-policy.ts'
import { traceRecords, type Traced } from './trace-handlers.ts'

export interface ParallelConsumerOptions<T> extends Places, Traced {
  kafka: Kafka
  /** With TOPIC_PREFIX, as in the topics. */
  groupId: string
  topics: readonly string[]
  decoder: DecoderChoice<T>
  handler: RecordHandler<T>
  /** Handles records that begin at the same time in their first try. Absent: `handler` handles each. */
  groupHandler?: GroupHandler<T>
  /** Sends dead letters. Its owner starts it, and stops it after this consumer. */
  producer: Producer
  log: Log
  metrics: Metrics
  clock?: Clock
  /** Records begun beyond a partition's lowest unfinished one: as many run one by one after a crash. */
  window?: number
  /** Bytes in memory, waiting or under way. One fetch may exceed it. */
  maxInFlightBytes?: number
  /**
   * When a record is due, in Unix ms. The partition waits for it, so records of one topic should fall due in
   * order.
   */
  notBefore?: (record: ConsumedRecord<T>) => number
  /**
   * How long `stop` lets handlers finish before it aborts their signals (15 s; 10 s below DRAIN_DEADLINE_MS).
   */
  drainMs?: number
  retry?: RetryPolicy
  group?: Partial<GroupSettings>
  /** Topics whose content must not be kept: their dead letters have no value. */
  omitDeadLetterValue?: (topic: string) => boolean
}

/** How often progress is committed. After a crash, work above the commit is repeated. */
const commitEveryMs = 200
/** How long handlers may take to end once they are aborted. */
const abortMs = 5_000

/**
 * Handles many records at once, across and within partitions, and commits the lowest unfinished offset of
 * each partition: at least once, none skipped. A slow record delays no other, up to `window` of its
 * partition.
 */
export function createParallelConsumer<T>(options: ParallelConsumerOptions<T>): Service {
  const consumer = new ParallelConsumer(traceRecords(options))
  return {
    start: () => consumer.start(),
    stop: () => consumer.stop(),
    health: () => consumer.health(),
    done: consumer.member.done,
  }
}

interface Begun<T> extends Waiting<T> {
  work: PartitionWork<T>
}

class ParallelConsumer<T> {
  readonly member: GroupMember
  readonly #options: ParallelConsumerOptions<T>
  readonly #metrics: ConsumerMetrics
  readonly #troubles: Troubles
  readonly #clock: Clock
  readonly #run: RunRecord<T>
  readonly #runTogether: RunTogether<Begun<T>> | undefined
  readonly #work = new Map<string, PartitionWork<T>>()
  #running = 0
  #turn = 0
  #idle: (() => void) | null = null
  readonly #commits: ProgressCommits<T>
  #rebalancing = false
  #tick: NodeJS.Timeout | undefined
  readonly #pumpSoon = oncePerTurn(() => this.#pump())
  readonly #dueTimes: DueTimes<T>
  #stopped: Promise<void> | null = null

  constructor(options: ParallelConsumerOptions<T>) {
    const { groupId, log, producer, decoder, handler, groupHandler, notBefore } = options
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#metrics = createConsumerMetrics(options.metrics, groupId, this.#clock)
    const shared = { groupId, log, clock: this.#clock, metrics: this.#metrics }
    this.#troubles = createTroubles({ ...shared, policy: options.retry ?? defaultRetryPolicy })
    const omitValue = options.omitDeadLetterValue ?? (() => false)
    const sendDeadLetters = createDeadLetters({ ...shared, producer, omitValue })
    this.#run = createRecordRunner({ ...shared, decoder, handler, sendDeadLetters, troubles: this.#troubles })
    this.#runTogether = groupHandler && createGroupRunner({ ...shared, decoder, handler: groupHandler })
    this.#dueTimes = new DueTimes({ ...shared, decoder, notBefore, wake: () => this.#pump() })
    this.#commits = new ProgressCommits({
      member: () => this.member,
      works: () => this.#work.values(),
      isHeld: () => this.#rebalancing || this.member.stopping.aborted,
      onCommitted: () => this.#pump(),
    })
    this.member = new GroupMember({
      ...options,
      // All partitions can be paused; kafkajs then sleeps this long before it sees that one has resumed.
      settings: { ...defaultGroupSettings, maxWaitMs: 200, ...options.group },
      partitionsConcurrently: 1,
      metrics: this.#metrics,
      onWaiting: (reason) => this.#troubles.waiting(reason),
      onAssigned: (assigned) => assigned.forEach((assigned) => this.#adopt(assigned)),
      onPartitionsAssigned: () => this.#dropLost(),
      onBatch: (payload, assigned) => this.#take(payload, assigned),
      onRebalancing: () => {
        this.#rebalancing = true
        void this.#commits.commitRest()
      },
      onFailed: () =>
        void this.stop().catch((error: unknown) => log.warn({ err: error }, 'leaving the group failed')),
    })
  }

  async start(): Promise<void> {
    this.#tick ??= setInterval(() => this.#report(), commitEveryMs)
    await this.member.start()
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stop()
    return this.#stopped
  }

  health(): Health {
    return this.#troubles.health(this.member.phase)
  }

  async #stop(): Promise<void> {
    this.member.drain()
    this.#dueTimes.stop()
    if (!(await this.#drained(this.#options.drainMs ?? 15_000))) {
      for (const work of this.#work.values()) work.abandon()
      await this.#drained(abortMs)
    }
    clearInterval(this.#tick)
    await this.#commits.settled()
    await this.#commits.commitRest()
    await this.member.leave()
  }

  async #drained(withinMs: number): Promise<boolean> {
    if (this.#running === 0) return true
    const late = new AbortController()
    const idle = new Promise<void>((resolve) => (this.#idle = resolve))
    await Promise.race([idle, this.#clock.sleep(withinMs, late.signal)])
    late.abort()
    return this.#running === 0
  }

  #adopt(assigned: Assigned): void {
    const key = partitionKey(assigned)
    const known = this.#work.get(key)
    if (known?.signal.aborted === false && known.continues(assigned)) {
      known.adopt(assigned)
      return
    }
    known?.abandon()
    reportSuspects([assigned], this.#options.log)
    this.#work.set(key, new PartitionWork<T>(assigned, this.#options.window ?? 32, this.member.stopping))
  }

  #dropLost(): void {
    this.#rebalancing = false
    for (const [key, work] of this.#work) {
      if (this.member.isCurrent(work.assigned)) continue
      work.abandon()
      this.#work.delete(key)
    }
    this.#pump()
  }

  /**
   * Only queues the records: kafkajs must go on fetching and sending heartbeats. The generation check and
   * `advance` must run in the same turn.
   */
  #take(payload: EachBatchPayload, assigned: Assigned): void {
    const { topic, partition, messages, highWatermark } = payload.batch
    const work = this.#work.get(partitionKey(assigned))
    const last = messages.at(-1)
    if (work === undefined || last === undefined || !this.member.isCurrent(assigned)) return
    work.take(
      messages.map((message): RawRecord => ({ topic, partition, offset: BigInt(message.offset), message })),
    )
    work.highWatermark = BigInt(highWatermark)
    this.member.advance(payload, assigned, BigInt(last.offset))
    if (work.bytes > this.#bytesEach()) {
      work.paused = true
      this.member.pause(assigned)
    }
    this.#pump()
    // Not awaited: fetches have their own connection (kafkajs's pool of two), and the next partition's
    // records would wait.
    void this.#commits.commit()
  }

  #bytesEach(): number {
    return (this.#options.maxInFlightBytes ?? 64 * 1024 * 1024) / Math.max(1, this.#work.size)
  }

  /** Begins every record that may begin, and schedules the rest. */
  #pump(): void {
    this.#beginWhatMay()
    // Once per turn, not per record: a gauge is read every few seconds.
    this.#metrics.inFlight(this.#running)
  }

  #beginWhatMay(): void {
    if (this.member.stopping.aborted || this.#rebalancing) return
    // During the look-up of start offsets no partition is current. A record that needs a mark cannot get one
    // then, and retrying would starve the answer.
    const works = [...this.#work.values()].filter(({ assigned }) => this.member.isCurrent(assigned))
    grantLastTry(works)
    this.#beginAll(works)
    if (works.some((work) => this.#dueTimes.isDue(work) && work.needsMark)) void this.#commits.commit()
    this.#dueTimes.wakeFor(works)
  }

  /** Takes turns, so that every partition advances. `works` are assigned to this member. */
  #beginAll(works: readonly PartitionWork<T>[]): void {
    const begun: Begun<T>[] = []
    let passed = 0
    while (passed < works.length && this.#running < this.#options.concurrency) {
      const work = works[this.#turn++ % works.length] as PartitionWork<T>
      const hasPlace = work.hasPlace(this.#running, this.#options, works.length)
      const next = hasPlace && this.#dueTimes.isDue(work) && work.mayBegin() ? work.begin() : undefined
      if (next === undefined) passed++
      else {
        passed = 0
        this.#running++
        begun.push({ ...next, work })
      }
    }
    this.#workOnAll(begun)
  }

  /** Retries run alone. */
  #workOnAll(begun: readonly Begun<T>[]): void {
    // In its own scope: a long run keeps alive what these functions refer to.
    const mayBeAny = this.#runTogether !== undefined && begun.length > 1
    const mayBeTogether = ({ work, raw }: Begun<T>) => mayBeAny && work.triesOf(raw) === 1
    const workAlone = (one: Begun<T>) => void this.#workOn(one)
    begun.filter((one) => !mayBeTogether(one)).forEach(workAlone)
    void this.#runTogether?.(begun.filter(mayBeTogether), workAlone, ({ work, raw }) => {
      work.finish(raw)
      this.#over(work)
    })
  }

  async #workOn({ work, raw, record }: Begun<T>): Promise<void> {
    try {
      if (work.waiting.aborted) throw new Interrupted()
      await this.#run({ raw, record, tries: work.triesOf(raw), signal: work.signal, waiting: work.waiting })
      work.finish(raw)
    } catch (error) {
      work.leave(raw)
      if (work.waiting.aborted) this.#options.log.debug({ err: error }, 'given up unfinished')
      else {
        work.keepMark = isBug(error)
        this.member.fail(error)
      }
    }
    this.#over(work)
  }

  #over(work: PartitionWork<T>): void {
    this.#running--
    if (this.#running === 0) this.#idle?.()
    this.#resumeWhenDrained(work)
    // Records that share a statement end together.
    this.#pumpSoon()
  }

  #resumeWhenDrained(work: PartitionWork<T>): void {
    if (!work.paused || work.bytes >= this.#bytesEach() / 2 || !this.member.isCurrent(work.assigned)) return
    work.paused = false
    try {
      this.member.resume(work.assigned)
    } catch (error) {
      // kafkajs has given up on this consumer without reporting it yet.
      this.member.fail(error)
    }
  }

  #report(): void {
    void this.#commits.commit()
    reportProgress([...this.#work.values()], this.#metrics, (assigned) => this.member.isCurrent(assigned))
  }
}

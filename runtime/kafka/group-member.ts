import { randomBytes } from 'node:crypto'
import type { Admin, Consumer, EachBatchPayload, Offsets } from 'kafkajs'
import { systemClock, type Clock } from '../clock.ts'
import type { Health } from '../service.ts'
import { partitionKey, type Assigned, type CommitPosition } from './assignment.ts'
import { createCommitter } from './commit-offsets.ts'
import { AssignmentLost, isCoordinatorComing, kafkaLost } from './group-errors.ts'
import { retryRequest } from './retry-request.ts'
import type { GroupMemberOptions } from './group-member-options.ts'
import { assignerNaming, createLiveMembers, type LiveMembers } from './live-members.ts'
import { isUnreachable, reachCluster } from './reach-cluster.ts'
import { judgeBatch, readOffsets, startingPlace } from './starting-place.ts'
import { createGaps, type Gaps } from './watch-gaps.ts'

/** kafkajs pauses at least 100 ms between them: a coordinator that takes longer is not coming. */
const maxJoinFailures = 300

/**
 * One member of a consumer group: joins, finds the start offset of each partition, detects skipped records,
 * and commits. Both consumers use it. It knows nothing of handlers.
 */
export class GroupMember {
  readonly done: Promise<void>
  /** Aborts when the member stops or fails. */
  readonly stopping: AbortSignal
  clusterId = ''

  readonly #options: GroupMemberOptions
  readonly #consumer: Consumer
  readonly #admin: Admin
  readonly #judgeLiveMembers: LiveMembers
  readonly #gaps: Gaps
  readonly #clock: Clock
  /** Signs this member's marks. The group shares it while the member lives. */
  readonly #name = randomBytes(9).toString('base64url')
  readonly #stopping = new AbortController()
  readonly #done = Promise.withResolvers<undefined>()
  readonly #joined = Promise.withResolvers<undefined>()
  #phase: Health['status'] = 'starting'
  #generation = 0
  #assigned = new Map<string, Assigned>()
  #commitOffsets: ((offsets: Offsets) => Promise<void>) | null = null
  #starting: Promise<void> | null = null
  #joining: Promise<void> | null = null
  #leaving: Promise<void> | null = null
  #joinFailures = 0
  readonly #commitTogether = createCommitter({
    isCurrent: (assigned) => this.isCurrent(assigned),
    send: (offsets) => {
      if (this.#commitOffsets === null) throw new Error('nothing was read, so nothing can be committed')
      return this.#commitOffsets(offsets)
    },
    onTrouble: (error, attempt) =>
      this.#options.log.warn({ err: error, attempt }, 'committing offsets failed'),
    sleep: (ms) => this.#clock.sleep(ms),
  })
  readonly #patiently = <T>(ask: () => Promise<T>) => retryRequest(ask, this.#clock, this.stopping)

  constructor(options: GroupMemberOptions) {
    const { kafka, groupId, settings } = options
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#admin = kafka.admin()
    this.#consumer = kafka.consumer({
      groupId,
      sessionTimeout: settings.sessionTimeoutMs,
      rebalanceTimeout: settings.rebalanceTimeoutMs,
      heartbeatInterval: settings.heartbeatIntervalMs,
      maxWaitTimeInMs: settings.maxWaitMs,
      maxBytesPerPartition: settings.maxBytesPerPartition,
      allowAutoTopicCreation: false,
      partitionAssigners: [assignerNaming(this.#name)],
      // Waits a minute for the cluster; then the process ends for its supervisor.
      retry: {
        initialRetryTime: 100,
        multiplier: 2,
        factor: 0.2,
        maxRetryTime: 3_000,
        retries: 25,
        restartOnFailure: (error) => Promise.resolve(this.#mayJoinAgain(error)),
      },
    })
    this.stopping = this.#stopping.signal
    this.#judgeLiveMembers = createLiveMembers({
      ...settings,
      name: this.#name,
      describeGroup: async () => (await this.#admin.describeGroups([groupId])).groups[0],
      clock: this.#clock,
      stopping: this.stopping,
    })
    this.#gaps = createGaps({
      ...options,
      readEnds: (topic) => this.#admin.fetchTopicOffsets(topic),
      assigned: () => this.#assigned.values(),
    })
    this.done = this.#done.promise
    // The owner awaits `done`; an earlier failure must not end the process as an unhandled rejection.
    this.done.catch(() => undefined)
  }

  get phase(): Health['status'] {
    return this.#phase
  }

  /** Resolves once partitions are assigned and their start offsets known. */
  start(): Promise<void> {
    this.#starting ??= this.#start()
    return this.#starting
  }

  async #start(): Promise<void> {
    this.#joining = this.#join()
    await this.#joining
    await Promise.race([this.#joined.promise, this.done])
  }

  async #join(): Promise<void> {
    const { partitionsConcurrently } = this.#options
    if (this.stopping.aborted) return
    const { GROUP_JOIN, REBALANCING, CRASH, FETCH } = this.#consumer.events
    this.#consumer.on(FETCH, () => this.#gaps.look())
    this.#consumer.on(GROUP_JOIN, ({ payload }) => this.#deal(payload.memberAssignment))
    this.#consumer.on(REBALANCING, () => this.#options.onRebalancing?.())
    this.#consumer.on(CRASH, ({ payload }) => {
      if (!payload.restart) this.fail(kafkaLost(payload.error))
    })
    const [admin, consumer, clock] = [this.#admin, this.#consumer, this.#clock]
    const reached = await reachCluster({ ...this.#options, admin, consumer, clock, stopping: this.stopping })
    if (reached === undefined) return
    this.clusterId = reached
    await this.#consumer.run({
      autoCommit: false,
      eachBatchAutoResolve: false,
      partitionsConsumedConcurrently: partitionsConcurrently,
      eachBatch: (payload) => this.#take(payload),
    })
  }

  /**
   * Joining again is safe before the first join, when no work is under way. A later crash ends the process.
   */
  #mayJoinAgain(error: Error): boolean {
    const mayJoin = this.#phase === 'starting' && !this.stopping.aborted
    const willPass = isCoordinatorComing(error) || isUnreachable(error)
    return mayJoin && willPass && ++this.#joinFailures <= maxJoinFailures
  }

  /** Ends the member: `done` rejects with the error, and offsets stay. */
  fail(error: unknown): void {
    if (this.stopping.aborted) return
    this.#options.log.error({ err: error, group: this.#options.groupId }, 'consumer cannot go on')
    this.#phase = 'failed'
    this.#stopping.abort()
    this.#done.reject(error)
    this.#options.onFailed()
  }

  /** Takes no new batches. Membership and heartbeats go on until `leave`. */
  drain(): void {
    if (this.#phase !== 'failed') this.#phase = 'stopping'
    this.#stopping.abort()
  }

  /** Leaves the group after the current batch, and closes every connection. */
  leave(): Promise<void> {
    this.#leaving ??= this.#leave()
    return this.#leaving
  }

  async #leave(): Promise<void> {
    this.drain()
    if (this.#joining !== null) {
      // kafkajs cannot stop a join under way, which would go on unseen. `start` has reported why it failed.
      await this.#joining.catch(() => undefined)
      await this.#consumer.disconnect()
      await this.#admin.disconnect()
    }
    this.#done.resolve(undefined)
  }

  isCurrent(assigned: Assigned): boolean {
    return this.#assigned.get(partitionKey(assigned)) === assigned
  }

  /** Fetches nothing more of the partition until `resume`. A rebalance ends every pause. */
  pause({ topic, partition }: Assigned): void {
    this.#consumer.pause([{ topic, partitions: [partition] }])
  }

  resume({ topic, partition }: Assigned): void {
    this.#consumer.resume([{ topic, partitions: [partition] }])
  }

  /** Moves the fetch position behind `offset`, the last one taken from this batch. Commits nothing. */
  advance(payload: EachBatchPayload, assigned: Assigned, offset: bigint): bigint {
    if (!this.isCurrent(assigned)) throw new AssignmentLost(assigned.topic, assigned.partition)
    payload.resolveOffset(offset.toString())
    const last = payload.batch.messages.at(-1)
    // Also skips what kafkajs filtered out behind the last record, such as transaction markers.
    assigned.next = BigInt(last?.offset === offset.toString() ? payload.batch.lastOffset() : offset) + 1n
    return assigned.next
  }

  /** Commits. Throws as the committer does (commit-offsets.ts). */
  async commit(positions: readonly CommitPosition[]): Promise<void> {
    await this.#commitTogether(positions)
  }

  /**
   * kafkajs calls this once it knows its partitions. Nothing is fetched until their start offsets are known.
   */
  #deal(memberAssignment: Record<string, number[]>): void {
    const generation = ++this.#generation
    this.#assigned = new Map()
    this.#options.metrics.forgetLag()
    this.#consumer.resume(this.#options.topics.map((topic) => ({ topic })))
    const held = Object.entries(memberAssignment).map(([topic, partitions]) => ({ topic, partitions }))
    this.#consumer.pause(held)
    this.#findStartingPlaces(generation, memberAssignment).then(
      () => {
        if (generation !== this.#generation || this.stopping.aborted) return
        this.#consumer.resume(held)
        if (this.#phase === 'starting') this.#phase = 'ok'
        this.#joined.resolve(undefined)
      },
      (error: unknown) => this.fail(kafkaLost(error)),
    )
  }

  async #findStartingPlaces(generation: number, assignment: Record<string, number[]>): Promise<void> {
    const partitions = await this.#patiently(() =>
      readOffsets(this.#admin, this.#options.groupId, assignment),
    )
    const places = partitions.map((offsets) => ({ ...offsets, ...startingPlace(offsets) }))
    // Either a new group, or one whose offsets expired (offsets.retention.minutes after its last member
    // left).
    const unplaced = places.filter(({ committed, low }) => committed === null && low > 0n).map(partitionKey)
    const { groupId: group, log } = this.#options
    if (unplaced.length > 0) log.warn({ group, unplaced }, 'reading begins at the oldest remaining record')
    const suspected = await this.#judgeLiveMembers(places, () => generation === this.#generation)
    if (generation !== this.#generation || this.stopping.aborted) return
    const assigned = places.map(({ topic, partition, start, suspects, missing }, index): Assigned => {
      this.#gaps.report({ topic, partition }, missing, start)
      const found = suspects?.mark ?? null
      return this.#assign({ topic, partition, start, suspects: suspected[index] ?? null, found })
    })
    this.#assigned = new Map(assigned.map((assigned) => [partitionKey(assigned), assigned]))
    this.#options.onAssigned(assigned)
    this.#options.onPartitionsAssigned?.()
  }

  #assign(place: Pick<Assigned, 'topic' | 'partition' | 'start' | 'suspects' | 'found'>): Assigned {
    return { ...place, writer: this.#name, next: place.start, readAgainAt: null }
  }

  async #take(payload: EachBatchPayload): Promise<void> {
    this.#commitOffsets = (offsets) => payload.commitOffsetsIfNecessary(offsets)
    const { topic, partition, messages } = payload.batch
    const assigned = this.#assigned.get(partitionKey({ topic, partition }))
    const first = messages[0]
    // A batch that is not taken leaves the fetch position, so it comes again.
    if (assigned === undefined || first === undefined || this.stopping.aborted) return
    if (BigInt(first.offset) !== assigned.next && !(await this.#fits(BigInt(first.offset), assigned))) return
    assigned.readAgainAt = null
    await this.#gaps.during(assigned, () => this.#options.onBatch(payload, assigned))
  }

  /** Whether a batch that begins elsewhere than expected is taken all the same. */
  async #fits(first: bigint, assigned: Assigned): Promise<boolean> {
    const { topic, partition, next: expected } = assigned
    const ends = await this.#patiently(() => this.#admin.fetchTopicOffsets(topic))
    const end = ends.find((entry) => entry.partition === partition)
    if (!this.isCurrent(assigned) || end === undefined) return false
    const readAgain = assigned.readAgainAt === expected
    const verdict = judgeBatch({ expected, first, low: BigInt(end.low), high: BigInt(end.high), readAgain })
    if (verdict.kind === 'read_again') {
      assigned.readAgainAt = expected
      this.#consumer.seek({ topic, partition, offset: expected.toString() })
      return false
    }
    this.#gaps.report(assigned, verdict.missing, first)
    if (first > expected) {
      assigned.next = first
      return true
    }
    // The topic was recreated: known offsets belong to other records. The batch comes again.
    const reassigned = this.#assign({ topic, partition, start: first, suspects: null, found: null })
    this.#assigned.set(partitionKey(reassigned), reassigned)
    this.#options.onAssigned([reassigned])
    return false
  }
}

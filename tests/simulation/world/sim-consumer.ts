import type { ConsumerRunConfig, EachBatchPayload, Offsets, PartitionAssigner } from 'kafkajs'
import { Subscription, type Partitions } from './subscription.ts'
import type { Cluster } from './cluster.ts'
import { protocolError, type Joining, type Membership } from './group.ts'

const rebalancing = ['REBALANCE_IN_PROGRESS', 'NOT_COORDINATOR_FOR_GROUP', 'ILLEGAL_GENERATION']
const typeOf = (error: unknown) => String((error as { type?: unknown }).type)
/** Like the real client's (runtime/kafka/group-member.ts). */
const maxRetries = 25

export interface SimConsumerOptions {
  groupId: string
  heartbeatInterval: number
  maxWaitTimeInMs: number
  partitionAssigners: PartitionAssigner[]
}

type Listener = (event: { payload: Record<string, unknown> }) => void

/**
 * The consumer of kafkajs 2.2 against one broker: fetches, passes every batch to `eachBatch`, sends
 * heartbeats between batches, and rejoins only after all batches of a fetch. Follows the order in its runner,
 * fetcher and consumer group, on which our runtime relies.
 */
export class SimConsumer {
  readonly events = { GROUP_JOIN: 'group_join', REBALANCING: 'rebalancing', CRASH: 'crash' }
  readonly #cluster: Cluster
  readonly #options: SimConsumerOptions
  readonly #listeners = new Map<string, Listener>()
  #topics: string[] = []
  #membership: Membership | null = null
  #memberId: string | null = null
  #subscription = new Subscription()
  #positions = new Map<string, bigint>()
  readonly #seeks = new Map<string, bigint>()
  #running = false
  #loop: Promise<void> | null = null
  #beatAtMs = 0
  readonly #connection = { arrivedMs: 0 }

  constructor(cluster: Cluster, options: SimConsumerOptions) {
    this.#cluster = cluster
    this.#options = options
  }

  on(event: string, listener: Listener): void {
    this.#listeners.set(event, listener)
  }
  connect(): Promise<void> {
    return this.#ask(() => undefined)
  }
  subscribe({ topics }: { topics: string[] }): Promise<void> {
    this.#topics = topics
    return Promise.resolve()
  }
  pause(what: Partitions[]): void {
    this.#subscription.pause(what)
  }
  resume(what: Partitions[]): void {
    this.#subscription.resume(what)
  }
  seek({ topic, partition, offset }: { topic: string; partition: number; offset: string }): void {
    this.#seeks.set(`${topic}/${partition}`, BigInt(offset))
  }

  async run(config: ConsumerRunConfig): Promise<void> {
    await this.#joinPatiently()
    this.#running = true
    this.#loop = this.#runOn(config)
  }

  async disconnect(): Promise<void> {
    this.#running = false
    await this.#loop
    const memberId = this.#memberId
    if (memberId !== null) await this.#ask(() => this.#group.leave(memberId)).catch(() => undefined)
  }

  get #group() {
    return this.#cluster.group(this.#options.groupId)
  }

  #ask<T>(effect: () => T, isRisky = false): Promise<T> {
    const failure = () => protocolError('REQUEST_TIMED_OUT')
    const connection = this.#connection
    return this.#cluster.world.request({ target: 'kafka', effect, failure, isRisky, connection })
  }

  #emit(event: string, payload: Record<string, unknown>): void {
    this.#listeners.get(event)?.({ payload })
  }

  async #joinPatiently(): Promise<void> {
    for (;;) {
      try {
        await this.#join()
        return
      } catch (error) {
        if (typeOf(error) === 'UNKNOWN_MEMBER_ID') this.#memberId = null
        await this.#sleep(100)
      }
    }
  }

  async #join(): Promise<void> {
    const joined = Promise.withResolvers<Membership>()
    const { world } = this.#cluster
    const caller = world.current
    await this.#ask(() => {
      this.#group.join(this.#joining(), (membership) => {
        world.after(world.faults.latencyMs(), () => joined.resolve(membership), caller)
      })
    })
    this.#membership = await joined.promise
    this.#memberId = this.#membership.memberId
    this.#beatAtMs = world.nowMs
    this.#positions = new Map()
    this.#subscription.assign(this.#membership.assignment)
    this.#emit(this.events.GROUP_JOIN, { memberAssignment: this.#membership.assignment })
  }

  /** The simulated group assigns at random and needs only the metadata of the assigners. */
  #joining(): Joining {
    const config = {} as Parameters<PartitionAssigner>[0]
    const [assigner] = this.#options.partitionAssigners.map((make) => make(config))
    const metadata = assigner?.protocol({ topics: this.#topics }).metadata ?? Buffer.alloc(0)
    return { memberId: this.#memberId, topics: this.#topics, metadata }
  }

  async #runOn(config: ConsumerRunConfig): Promise<void> {
    let failures = 0
    while (this.#running) {
      try {
        await this.#fetchAndHandle(config)
        failures = 0
      } catch (error) {
        const type = typeOf(error)
        if (rebalancing.includes(type) || type === 'UNKNOWN_MEMBER_ID') {
          if (type === 'UNKNOWN_MEMBER_ID') this.#memberId = null
          else this.#emit(this.events.REBALANCING, {})
          await this.#joinPatiently()
        } else if (++failures > maxRetries) {
          this.#emit(this.events.CRASH, { error, restart: false })
          return
        } else await this.#sleep(300)
      }
    }
  }

  async #fetchAndHandle(config: ConsumerRunConfig): Promise<void> {
    const batches = await this.#fetch()
    if (batches.length === 0) await this.#heartbeat()
    if (!this.#running) return
    const waiting = [...batches]
    const failures: unknown[] = []
    const work = async () => {
      for (let batch = waiting.shift(); batch !== undefined; batch = waiting.shift()) {
        if (!this.#running) return
        try {
          await config.eachBatch?.(this.#payload(batch))
          await this.#heartbeat()
        } catch (error) {
          failures.push(error)
        }
      }
    }
    await Promise.all(Array.from({ length: config.partitionsConsumedConcurrently ?? 1 }, work))
    if (failures.length > 0) throw failures[0] as Error
  }

  async #fetch(): Promise<EachBatchPayload['batch'][]> {
    await this.#findPositions()
    const active = this.#subscription.active()
    const { world } = this.#cluster
    if (active.length === 0) {
      await this.#sleep(this.#options.maxWaitTimeInMs)
      return []
    }
    const read = () =>
      active.flatMap(({ topic, partition }) => {
        const log = this.#cluster.log({ topic, partition })
        const from = Number(this.#positions.get(`${topic}/${partition}`) ?? 0n)
        // A fetch returns what fits, and nobody can rely on how much that is.
        const messages = log.slice(from, from + 1 + world.random.below(20))
        return messages.length === 0 ? [] : [batchOf(topic, partition, messages, log.length)]
      })
    let batches = await this.#ask(read)
    if (batches.length === 0 && (await this.#isWrittenInTime())) batches = await this.#ask(read)
    return batches.filter(
      ({ topic, partition }) =>
        !this.#seeks.has(`${topic}/${partition}`) && !this.#subscription.isPaused(topic, partition),
    )
  }

  async #isWrittenInTime(): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const { world } = this.#cluster
    const caller = world.current
    const timer = setTimeout(() => resolve(false), this.#options.maxWaitTimeInMs)
    const callOff = this.#cluster.whenWritten(this.#topics, () => world.after(0, () => resolve(true), caller))
    const isWritten = await promise
    callOff()
    clearTimeout(timer)
    return isWritten
  }

  async #findPositions(): Promise<void> {
    for (const [place, offset] of this.#seeks) this.#positions.set(place, offset)
    this.#seeks.clear()
    const unknown = this.#subscription
      .assigned()
      .filter(({ topic, partition }) => !this.#positions.has(`${topic}/${partition}`))
    if (unknown.length === 0) return
    const offsets = await this.#ask(() => unknown.map((place) => this.#group.committed(place)?.offset ?? 0n))
    unknown.forEach(({ topic, partition }, index) =>
      this.#positions.set(`${topic}/${partition}`, offsets[index] ?? 0n),
    )
  }

  #payload(batch: EachBatchPayload['batch']): EachBatchPayload {
    const place = `${batch.topic}/${batch.partition}`
    return {
      batch,
      resolveOffset: (offset) => void this.#positions.set(place, BigInt(offset) + 1n),
      heartbeat: () => this.#heartbeat(),
      pause: () => () => undefined,
      commitOffsetsIfNecessary: (offsets) => this.#commit(offsets as Offsets),
      uncommittedOffsets: () => ({ topics: [] }),
      isRunning: () => this.#running,
      isStale: () => this.#seeks.has(place),
    }
  }

  async #commit({ topics }: Offsets): Promise<void> {
    const offsets = topics.flatMap(({ topic, partitions }) =>
      // The client passes on the metadata that its types lack.
      (partitions as { partition: number; offset: string; metadata?: string }[]).map(
        ({ partition, offset, metadata }) => ({
          topic,
          partition,
          offset: BigInt(offset),
          metadata: metadata ?? '',
        }),
      ),
    )
    const { memberId, generation } = this.#membership as Membership
    await this.#ask(() => this.#group.commit(memberId, generation, offsets), true)
  }

  async #heartbeat(): Promise<void> {
    const { world } = this.#cluster
    if (this.#membership === null || world.nowMs < this.#beatAtMs + this.#options.heartbeatInterval) return
    const { memberId, generation } = this.#membership
    this.#beatAtMs = world.nowMs
    await this.#ask(() => this.#group.heartbeat(memberId, generation))
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, ms))
  }
}

function batchOf(
  topic: string,
  partition: number,
  messages: EachBatchPayload['batch']['messages'],
  end: number,
): EachBatchPayload['batch'] {
  const first = messages[0]?.offset ?? '0'
  const last = messages.at(-1)?.offset ?? '0'
  return {
    topic,
    partition,
    highWatermark: String(end),
    messages,
    isEmpty: () => messages.length === 0,
    firstOffset: () => first,
    lastOffset: () => last,
    offsetLag: () => String(end - 1 - Number(last)),
    offsetLagLow: () => String(end - 1 - Number(first)),
  }
}

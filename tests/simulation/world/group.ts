import kafkajs from 'kafkajs'
import type { ClusterWatch, TopicPartition } from './stored-message.ts'
import type { World } from './world.ts'

export interface Membership {
  memberId: string
  generation: number
  assignment: Record<string, number[]>
}

interface Member {
  id: string
  topics: readonly string[]
  /** Metadata that it joined with, shown to clients that describe the group. */
  metadata: Buffer
  seenAtMs: number
  /** Set while the member waits for the others. */
  joined: ((membership: Membership) => void) | null
}

/** A member's join request; a new member has no id yet. */
export interface Joining {
  memberId: string | null
  topics: readonly string[]
  metadata: Buffer
}

/** What a coordinator needs from its cluster. */
interface GroupCluster {
  readonly world: World
  readonly watch: ClusterWatch | null
  logsOf(topic: string): readonly unknown[]
}

interface Committed {
  offset: bigint
  metadata: string
}

const sessionMs = 7_000
/** How long a rebalance waits for missing members. */
const rebalanceMs = 6_000

export function protocolError(type: string): Error {
  return Object.assign(new kafkajs.KafkaJSError(type), { type })
}

/** Coordinator of one consumer group: assignments and commits, with the broker's rules. */
export class Group {
  readonly id: string
  readonly #cluster: GroupCluster
  readonly #members = new Map<string, Member>()
  readonly #committed = new Map<string, Committed>()
  readonly topics = new Set<string>()
  #generation = 0
  #made = 0
  #isPreparing = false

  constructor(cluster: GroupCluster, id: string) {
    this.#cluster = cluster
    this.id = id
  }

  committed({ topic, partition }: TopicPartition): Committed | undefined {
    return this.#committed.get(`${topic}/${partition}`)
  }

  /** Like a broker, lists members only while no rebalance is under way. */
  describe(): { state: string; members: { memberMetadata: Buffer }[] } {
    if (this.#isPreparing) return { state: 'PreparingRebalance', members: [] }
    const members = [...this.#members.values()].map(({ metadata }) => ({ memberMetadata: metadata }))
    return { state: 'Stable', members }
  }

  /** Calls `joined` with the member's assignment once all members have joined or been given up. */
  join({ memberId, topics, metadata }: Joining, joined: (membership: Membership) => void): void {
    if (memberId !== null && !this.#members.has(memberId)) throw protocolError('UNKNOWN_MEMBER_ID')
    const id = memberId ?? `${this.id}-${++this.#made}`
    for (const topic of topics) this.topics.add(topic)
    const member = this.#members.get(id) ?? { id, topics, metadata, seenAtMs: 0, joined }
    Object.assign(member, { joined, topics, metadata })
    this.#members.set(id, member)
    this.#see(member)
    this.#prepare()
    this.#dealIfAllCame()
  }

  leave(memberId: string): void {
    if (!this.#members.delete(memberId)) return
    if (this.#members.size > 0) this.#prepare()
    this.#dealIfAllCame()
  }

  heartbeat(memberId: string, generation: number): void {
    this.#check(memberId, generation)
    if (this.#isPreparing) throw protocolError('REBALANCE_IN_PROGRESS')
  }

  /** Like a broker, accepts commits of the current generation while a rebalance is being prepared. */
  commit(memberId: string, generation: number, offsets: readonly (TopicPartition & Committed)[]): void {
    this.#check(memberId, generation)
    for (const { topic, partition, offset, metadata } of offsets) {
      const before = this.committed({ topic, partition })?.offset ?? 0n
      this.#committed.set(`${topic}/${partition}`, { offset, metadata })
      this.#cluster.world.note(() => `${memberId} commits ${topic}/${partition}@${offset} ${metadata}`)
      this.#cluster.watch?.committed(this.id, { topic, partition }, before, offset)
    }
  }

  #check(memberId: string, generation: number): void {
    const member = this.#members.get(memberId)
    if (member === undefined) throw protocolError('UNKNOWN_MEMBER_ID')
    this.#see(member)
    if (generation !== this.#generation) throw protocolError('ILLEGAL_GENERATION')
  }

  #see(member: Member): void {
    const { world } = this.#cluster
    const isWatched = member.seenAtMs > 0
    member.seenAtMs = world.nowMs
    if (!isWatched) this.#watch(member)
  }

  #watch(member: Member): void {
    const { world } = this.#cluster
    const look = () => {
      if (this.#members.get(member.id) !== member) return
      // A member that waits for the others need not send heartbeats.
      if (member.joined !== null) member.seenAtMs = world.nowMs
      if (member.seenAtMs + sessionMs > world.nowMs) this.#watch(member)
      else {
        world.note(() => `${member.id} is given up`)
        this.leave(member.id)
      }
    }
    world.after(member.seenAtMs + sessionMs - world.nowMs, look, null)
  }

  #prepare(): void {
    if (this.#isPreparing) return
    this.#isPreparing = true
    const { world } = this.#cluster
    world.after(
      rebalanceMs,
      () => {
        if (!this.#isPreparing) return
        for (const member of this.#members.values()) {
          if (member.joined !== null) continue
          world.note(() => `${member.id} is given up`)
          this.#members.delete(member.id)
        }
        this.#dealIfAllCame()
      },
      null,
    )
  }

  #dealIfAllCame(): void {
    const members = [...this.#members.values()]
    if (!this.#isPreparing || members.length === 0 || members.some(({ joined }) => joined === null)) return
    this.#isPreparing = false
    const generation = ++this.#generation
    const shares = new Map(members.map(({ id }): [string, Record<string, number[]>] => [id, {}]))
    for (const topic of this.topics) {
      for (const partition of this.#cluster.logsOf(topic).keys()) {
        const { id } = this.#cluster.world.random.pick(members)
        const share = shares.get(id) as Record<string, number[]>
        share[topic] = [...(share[topic] ?? []), partition]
      }
    }
    for (const member of members) {
      const { id, joined } = member
      member.joined = null
      member.seenAtMs = this.#cluster.world.nowMs
      joined?.({ memberId: id, generation, assignment: shares.get(id) ?? {} })
    }
  }
}

import { partitionOfHash, murmur2 } from '#runtime/kafka/partition-for-key.ts'
import type { OutgoingRecord } from '#runtime/kafka/records.ts'
import { Group } from './group.ts'
import type { ClusterWatch, TopicPartition, StoredMessage } from './stored-message.ts'
import type { World } from './world.ts'

/** Kafka as clients see it: append-only logs, and groups. It never loses an acknowledged record. */
export class Cluster {
  readonly id = 'simulated'
  readonly world: World
  watch: ClusterWatch | null = null
  readonly #partitions: number
  readonly #logs = new Map<string, StoredMessage[][]>()
  readonly #groups = new Map<string, Group>()
  readonly #readers = new Map<string, Set<() => void>>()

  constructor(world: World, partitions: number) {
    this.world = world
    this.#partitions = partitions
  }

  logsOf(topic: string): StoredMessage[][] {
    const known = this.#logs.get(topic)
    if (known !== undefined) return known
    const logs = Array.from({ length: this.#partitions }, (): StoredMessage[] => [])
    this.#logs.set(topic, logs)
    return logs
  }

  log({ topic, partition }: TopicPartition): StoredMessage[] {
    return this.logsOf(topic)[partition] ?? []
  }

  partitionFor(key: string | Buffer): number {
    return partitionOfHash(murmur2(Buffer.from(key)), this.#partitions)
  }

  append({ topic, key, value, headers }: OutgoingRecord): void {
    const place = { topic, partition: this.partitionFor(key) }
    const log = this.log(place)
    const message: StoredMessage = {
      offset: String(log.length),
      key: Buffer.from(key),
      value,
      timestamp: String(Math.floor(this.world.nowMs)),
      attributes: 0,
      headers: Object.fromEntries(
        Object.entries(headers ?? {}).map(([name, text]) => [name, Buffer.from(text)]),
      ),
    }
    log.push(message)
    this.watch?.written(place, message)
    for (const listener of [...(this.#readers.get(topic) ?? [])]) listener()
  }

  /** Calls `listener` for every record written to one of `topics`. Returns the function that unsubscribes. */
  whenWritten(topics: readonly string[], listener: () => void): () => void {
    const readers = topics.map((topic) => {
      const known = this.#readers.get(topic) ?? new Set()
      this.#readers.set(topic, known.add(listener))
      return known
    })
    return () => readers.forEach((known) => known.delete(listener))
  }

  group(id: string): Group {
    const known = this.#groups.get(id)
    if (known !== undefined) return known
    const group = new Group(this, id)
    this.#groups.set(id, group)
    return group
  }

  get groups(): readonly Group[] {
    return [...this.#groups.values()]
  }
}

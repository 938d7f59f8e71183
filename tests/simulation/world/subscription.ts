import type { TopicPartition } from './stored-message.ts'

export interface Partitions {
  topic: string
  partitions?: number[]
}

/**
 * A consumer's assignment, and which partitions are paused. Pauses survive a rebalance, as in the real
 * client.
 */
export class Subscription {
  #assigned: TopicPartition[] = []
  readonly #paused = new Set<string>()

  assign(assignment: Readonly<Record<string, readonly number[]>>): void {
    this.#assigned = Object.entries(assignment).flatMap(([topic, partitions]) =>
      partitions.map((partition) => ({ topic, partition })),
    )
  }

  pause(what: readonly Partitions[]): void {
    for (const { topic, partitions } of what)
      for (const partition of partitions ?? []) this.#paused.add(`${topic}/${partition}`)
  }

  resume(what: readonly Partitions[]): void {
    for (const { topic, partitions } of what) {
      for (const place of [...this.#paused]) {
        const isIt = partitions === undefined || partitions.some((one) => place === `${topic}/${one}`)
        if (isIt && place.startsWith(`${topic}/`)) this.#paused.delete(place)
      }
    }
  }

  isPaused(topic: string, partition: number): boolean {
    return this.#paused.has(`${topic}/${partition}`)
  }

  assigned(): readonly TopicPartition[] {
    return this.#assigned
  }

  active(): readonly TopicPartition[] {
    return this.#assigned.filter(({ topic, partition }) => !this.isPaused(topic, partition))
  }
}

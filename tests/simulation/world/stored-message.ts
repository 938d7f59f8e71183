/** A record in a log, as the client passes it to consumers. */
export interface StoredMessage {
  offset: string
  key: Buffer
  value: Buffer | null
  timestamp: string
  attributes: number
  headers: Record<string, Buffer>
}

export interface TopicPartition {
  topic: string
  partition: number
}

/** Observes every record written and every offset committed. */
export interface ClusterWatch {
  written(at: TopicPartition, message: StoredMessage): void
  /** Offsets from `from` to below `to` now count as finished. */
  committed(groupId: string, at: TopicPartition, from: bigint, to: bigint): void
}

/** A record in a log, as the client passes it to consumers. */
export interface StoredMessage {
  offset: string
  key: Buffer
  value: Buffer | null
  timestamp: string
  attributes: number
  headers: Record<string, Buffer>
}

export interface Place {
  topic: string
  partition: number
}

/** Observes every record written and every offset committed. */
export interface ClusterWatch {
  written(place: Place, message: StoredMessage): void
  /** Offsets from `from` to below `to` now count as finished. */
  committed(groupId: string, place: Place, from: bigint, to: bigint): void
}

/** A record in a log, as the client hands it to consumers. */
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

/** Told of every record that is written and every offset that is committed. */
export interface ClusterWatch {
  written(place: Place, message: StoredMessage): void
  /** Offsets from `from` to below `to` count as finished from now on. */
  committed(groupId: string, place: Place, from: bigint, to: bigint): void
}

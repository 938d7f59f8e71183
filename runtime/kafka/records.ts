import type { Outcome } from '../outcome.ts'

/** A decoded record and where it stands. */
export interface ConsumedRecord<T> {
  topic: string
  partition: number
  offset: bigint
  key: string | null
  value: T
  headers: Readonly<Record<string, string>>
  /** Unix milliseconds that the producer gave it. */
  timestampMs: number
}

/** Records of one partition, in order, and the position behind them. */
export interface Batch<T> {
  records: readonly ConsumedRecord<T>[]
  position: Position
}

export interface Position {
  /** The cluster's id: a topic made anew elsewhere starts anew. */
  cluster: string
  topic: string
  partition: number
  /** The offset behind the batch, undecodable records included. */
  nextOffset: bigint
}

/**
 * One outcome a record, in the same order. Throws a SluiceError when none of them can be decided now. `signal` aborts when the consumer stops or the
 * group deals anew: who waits for something gives up then, with Interrupted.
 */
export type BatchHandler<T> = (batch: Batch<T>, signal: AbortSignal) => Promise<readonly Outcome[]>

/** Works on one record beside others. `signal` aborts when the consumer stops or loses the partition. */
export type RecordHandler<T> = (record: ConsumedRecord<T>, signal: AbortSignal) => Promise<Outcome>

/**
 * Works on records together, as far as nothing is special about them. `handBack(index)` gives one to the RecordHandler, which
 * begins with it at once; if this rejects, all go there of which nothing was said. `over(index)`: its outcome is `ok`, as is when this resolves
 * that of all of which nothing was said.
 */
export type GroupHandler<T> = (
  records: readonly ConsumedRecord<T>[],
  handBack: (index: number) => void,
  over: (index: number) => void,
) => Promise<void>

/** Bytes to a value. Throws PermanentError when they can never be decoded, TransientError when not now. */
export interface Decoder<T> {
  decode(value: Buffer): Promise<T>
  /** The same without waiting; undefined where that is not possible, or where `decode` would throw. */
  decodeNow?(value: Buffer): T | undefined
  /** What a record without a value is. Absent: a record that can never be decoded. */
  withoutValue?(): T
}

/** A value to bytes. Throws PermanentError when the value does not fit its schema. */
export interface Encoder<T> {
  encode(value: T): Promise<Buffer>
}

export interface OutgoingRecord {
  /** The full topic name, prefix included. */
  topic: string
  key: string | Buffer
  value: Buffer | null
  headers?: Readonly<Record<string, string | Buffer>>
}

export interface Producer {
  start(): Promise<void>
  /** Sends what is gathered, then closes. */
  stop(): Promise<void>
  /**
   * Resolves once every record stands in the log of every in-sync replica (`acks=all`), each at least once.
   * Rejects with TransientError (`KAFKA_UNAVAILABLE`, `PRODUCER_BUFFER_FULL`) or PermanentError (`RECORD_TOO_LARGE`).
   */
  send(records: readonly OutgoingRecord[]): Promise<void>
}

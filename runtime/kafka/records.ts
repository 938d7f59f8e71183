import type { Outcome } from '../outcome.ts'
import type { Span, TraceContext } from '../tracing/tracing.ts'

/** A decoded record and where it stands. */
export interface ConsumedRecord<T> {
  topic: string
  partition: number
  offset: bigint
  key: string | null
  value: T
  headers: Readonly<Record<string, string>>
  /** The producer's timestamp, in Unix milliseconds. */
  timestampMs: number
  /** The span of its handling, where one record is handled and traces are on. */
  span?: Span
}

/** Records of one partition, in order, and the position behind them. */
export interface Batch<T> {
  records: readonly ConsumedRecord<T>[]
  position: Position
  /** The span of its handling, where traces are on. */
  span?: Span
}

export interface Position {
  /** The cluster's id: in another cluster a topic starts over. */
  cluster: string
  topic: string
  partition: number
  /** The offset behind the batch, undecodable records included. */
  nextOffset: bigint
}

/**
 * One outcome per record, in the same order. Throws a SluiceError when none can be decided now. `signal`
 * aborts when the consumer stops or the group rebalances; a waiting handler then throws Interrupted.
 */
export type BatchHandler<T> = (batch: Batch<T>, signal: AbortSignal) => Promise<readonly Outcome[]>

/** Handles one record beside others. `signal` aborts when the consumer stops or loses the partition. */
export type RecordHandler<T> = (record: ConsumedRecord<T>, signal: AbortSignal) => Promise<Outcome>

/**
 * Handles ordinary records together. `handBack(index)` passes a record to the RecordHandler, which starts at
 * once. `over(index)` settles one as `ok`. Resolving settles every unmentioned record as `ok`; rejecting
 * passes them to the RecordHandler.
 */
export type GroupHandler<T> = (
  records: readonly ConsumedRecord<T>[],
  handBack: (index: number) => void,
  over: (index: number) => void,
) => Promise<void>

/**
 * Decodes bytes. Throws PermanentError when they can never be decoded, TransientError when they cannot be
 * now.
 */
export interface Decoder<T> {
  decode(value: Buffer): Promise<T>
  /** As `decode`, without waiting; undefined where that is impossible or `decode` would throw. */
  decodeNow?(value: Buffer): T | undefined
  /** The value of a record without one. Absent: such a record can never be decoded. */
  withoutValue?(): T
}

/** Encodes a value. Throws PermanentError when it does not fit its schema. */
export interface Encoder<T> {
  encode(value: T): Promise<Buffer>
}

export interface OutgoingRecord {
  /** The full topic name, with prefix. */
  topic: string
  key: string | Buffer
  value: Buffer | null
  headers?: Readonly<Record<string, string | Buffer>>
  /** What its sending is a part of. A producer that exports traces sends it on in the headers. */
  trace?: TraceContext | undefined
}

export interface Producer {
  start(): Promise<void>
  /** Sends what is buffered, then closes. */
  stop(): Promise<void>
  /**
   * Resolves once every record is in the log of every in-sync replica (`acks=all`), each at least once.
   * Rejects with TransientError (`KAFKA_UNAVAILABLE`, `PRODUCER_BUFFER_FULL`) or PermanentError
   * (`RECORD_TOO_LARGE`).
   */
  send(records: readonly OutgoingRecord[]): Promise<void>
}

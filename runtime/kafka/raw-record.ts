import type { IHeaders, KafkaMessage } from 'kafkajs'
import { messageOf, PermanentError, SluiceError } from '../errors.ts'
import type { ConsumedRecord, Decoder } from './records.ts'

/** A record as the broker sent it, and where it stands. */
export interface RawRecord {
  topic: string
  partition: number
  offset: bigint
  message: KafkaMessage
}

/** One decoder for all topics, or one chosen by the full topic name. */
export type DecoderChoice<T> = Decoder<T> | ((topic: string) => Decoder<T>)

/** Throws PermanentError when the bytes can never be decoded, a transient error when the registry is away. */
export async function decodeRecord<T>(raw: RawRecord, choice: DecoderChoice<T>): Promise<ConsumedRecord<T>> {
  const { topic, message } = raw
  const decoder = decoderFor(topic, choice)
  let value: T
  try {
    value = await decodeValue(message.value, decoder)
  } catch (error) {
    if (error instanceof SluiceError) throw error
    // Other decoder errors come from the bytes, which are input and must not stop the partition.
    throw new PermanentError('UNDECODABLE', messageOf(error), { cause: error })
  }
  return recordOf(raw, value)
}

/** As `decodeRecord`, without waiting; undefined where that is impossible or `decodeRecord` would throw. */
export function decodeRecordNow<T>(raw: RawRecord, choice: DecoderChoice<T>): ConsumedRecord<T> | undefined {
  const decoder = decoderFor(raw.topic, choice)
  if (raw.message.value === null) return undefined
  const value = decoder.decodeNow?.(raw.message.value)
  return value === undefined ? undefined : recordOf(raw, value)
}

function decoderFor<T>(topic: string, choice: DecoderChoice<T>): Decoder<T> {
  return typeof choice === 'function' ? choice(topic) : choice
}

function recordOf<T>({ topic, partition, offset, message }: RawRecord, value: T): ConsumedRecord<T> {
  return {
    topic,
    partition,
    offset,
    key: message.key?.toString('utf8') ?? null,
    value,
    headers: textHeaders(message.headers),
    timestampMs: Number(message.timestamp),
  }
}

async function decodeValue<T>(value: Buffer | null, decoder: Decoder<T>): Promise<T> {
  if (value !== null) return decoder.decode(value)
  if (decoder.withoutValue !== undefined) return decoder.withoutValue()
  throw new PermanentError('UNDECODABLE', 'the record has no value')
}

/** Bytes of a record in memory beside its own: objects, headers, queue entries. */
const overheadBytes = 512

export function weightBytes({ message }: RawRecord): number {
  return (message.value?.length ?? 0) + (message.key?.length ?? 0) + overheadBytes
}

function textHeaders(headers: IHeaders | undefined): Record<string, string> {
  // Most records have none.
  if (headers === undefined || Object.keys(headers).length === 0) return {}
  return Object.fromEntries(
    Object.entries(lastHeaders(headers)).map(([name, value]) => [name, value.toString('utf8')]),
  )
}

/** A repeated header counts with its last value, as in the Java client's `lastHeader`. */
export function lastHeaders(headers: IHeaders | undefined): Record<string, Buffer> {
  const entries: [string, Buffer][] = []
  for (const [name, given] of Object.entries(headers ?? {})) {
    const last = Array.isArray(given) ? given.at(-1) : given
    if (last !== undefined) entries.push([name, Buffer.from(last)])
  }
  return Object.fromEntries(entries)
}

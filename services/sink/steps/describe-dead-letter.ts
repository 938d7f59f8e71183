import type { ConsumedRecord } from '#runtime/kafka/records.ts'
import { hashedId, idToUuid, isId } from '#schemas/ids.ts'

/** A row of dead_letters: what is known of a dead letter, without its value. */
export interface DeadLetterRow {
  uuid: string
  cluster: string
  /** The source's name, without prefix. */
  topic: string
  partition: number
  offset: bigint
  sourcePartition: number | null
  sourceOffset: bigint | null
  groupId: string | null
  code: string
  message: string
  key: string | null
  projectUuid: string | null
  requestUuid: string | null
  valueBytes: number | null
  /** Unix milliseconds. */
  deadAtMs: number
}

export interface DeadLetterPlace {
  cluster: string
  topic: string
  /** Out of the value, where that could be read. */
  projectId: string | null
}

const maxTextLength = 1_000
/** It is found by it: a key of an index takes 2,704 bytes at most. */
const maxCodeLength = 200
/** The largest time that an identifier holds. */
const maxTimeMs = 2 ** 48 - 1

/**
 * The row of one dead letter. The runtime writes the headers (`sluice-dlq-*`), but others can write to the
 * topic too: what is missing or malformed is null.
 */
export function describeDeadLetter(
  record: ConsumedRecord<Buffer | null>,
  { cluster, topic, projectId }: DeadLetterPlace,
): DeadLetterRow {
  const { partition, offset, key, value } = record
  const header = (name: string) => storable(record.headers[`sluice-dlq-${name}`])
  const deadAtMs = Math.min(Math.max(0, Math.trunc(record.timestampMs) || 0), maxTimeMs)
  const project = [projectId, key].find((candidate) => candidate !== null && isId('project', candidate))
  return {
    uuid: idToUuid(hashedId('deadLetter', deadAtMs, [cluster, topic, String(partition), String(offset)])),
    cluster,
    topic,
    partition,
    offset,
    sourcePartition: wholeNumber(header('partition'), 2 ** 31 - 1),
    sourceOffset: bigNumber(header('offset')),
    groupId: header('group'),
    code: header('code')?.slice(0, maxCodeLength).toWellFormed() ?? 'UNKNOWN',
    message: header('message') ?? '',
    key: storable(key ?? undefined),
    projectUuid: project === undefined || project === null ? null : idToUuid(project),
    requestUuid: key !== null && isId('request', key) ? idToUuid(key) : null,
    valueBytes: value === null ? null : value.length,
    deadAtMs,
  }
}

/** Text that Postgres takes, not too long. */
function storable(text: string | undefined): string | null {
  if (text === undefined) return null
  return text.slice(0, maxTextLength).toWellFormed().replaceAll('\u0000', '\uFFFD')
}

function wholeNumber(text: string | null, max: number): number | null {
  return text !== null && /^\d{1,10}$/.test(text) && Number(text) <= max ? Number(text) : null
}

function bigNumber(text: string | null): bigint | null {
  return text !== null && /^\d{1,18}$/.test(text) ? BigInt(text) : null
}

import type { Pool } from 'pg'
import { SluiceError } from '#runtime/errors.ts'
import type { SendDeadLetters } from '#runtime/kafka/dead-letters.ts'
import type { BatchHandler, ConsumedRecord, Decoder } from '#runtime/kafka/records.ts'
import type { Log } from '#runtime/log.ts'
import type { Metrics } from '#runtime/metrics.ts'
import { ok } from '#runtime/outcome.ts'
import { describeDeadLetter } from './steps/describe-dead-letter.ts'
import { insertDeadLetters } from './stores/dead-letter-store.ts'

export interface DeadLetterIndexDependencies {
  pool: Pool
  /** The source's name without prefix, by the full name of its dead-letter topic. */
  sourceOf: (deadLetterTopic: string) => string
  /** Of the values of a source. */
  decoderOf: (source: string) => Decoder<{ project_id: string }> | undefined
  metrics: Metrics
}

/** The bytes as they are: a dead letter's value could not be handled. */
export const bytesDecoder: Decoder<Buffer | null> = {
  decode: (value) => Promise.resolve(value),
  withoutValue: () => null,
}

/** Codes of records that are not decoded again: they cannot be decoded, or crashed a process. */
const unreadable = new Set(['UNDECODABLE', 'CRASHED'])

/** Three times as many as there are. */
const maxCodes = 50

/** Writes the position and the subject of each dead letter, without its value. */
export function createDeadLetterIndex(
  dependencies: DeadLetterIndexDependencies,
): BatchHandler<Buffer | null> {
  const { pool, sourceOf, decoderOf, metrics } = dependencies
  const indexed = metrics.counter('sluice_sink_dead_letters_total', 'Dead letters indexed', ['topic', 'code'])
  const labelOf = boundCodes()
  return async ({ records, position }) => {
    const topic = sourceOf(position.topic)
    const decoder = decoderOf(topic)
    const rows = await Promise.all(
      records.map(async (record) =>
        describeDeadLetter(record, {
          cluster: position.cluster,
          topic,
          projectId: await projectOf(record, decoder),
        }),
      ),
    )
    await insertDeadLetters(pool, rows)
    for (const { code } of rows) indexed.inc({ topic, code: labelOf(code) })
    return records.map(() => ok())
  }
}

/** Others can write to these topics too: their codes must not become series without end. */
function boundCodes(): (code: string) => string {
  const seen = new Set<string>()
  return (code) => {
    if (seen.size < maxCodes) seen.add(code)
    return seen.has(code) ? code : 'other'
  }
}

/** The project, if the value says so. Throws only transient errors. */
async function projectOf(
  { value, headers }: ConsumedRecord<Buffer | null>,
  decoder: Decoder<{ project_id: string }> | undefined,
): Promise<string | null> {
  if (value === null || decoder === undefined || unreadable.has(headers['sluice-dlq-code'] ?? '')) return null
  try {
    return (await decoder.decode(value)).project_id
  } catch (error) {
    if (error instanceof SluiceError && error.retry === 'later') throw error
    return null
  }
}

/** A dead letter that cannot be indexed stays where it is; a dead letter of its own would help nobody. */
export function leaveUnindexed(log: Log, metrics: Metrics): SendDeadLetters {
  const skipped = metrics.counter(
    'sluice_sink_dead_letters_skipped_total',
    'Dead letters that could not be indexed',
  )
  return (letters) => {
    for (const { raw, error } of letters) {
      skipped.inc()
      log.error(
        { err: error, topic: raw.topic, partition: raw.partition, offset: raw.offset.toString() },
        'dead letter not indexed',
      )
    }
    return Promise.resolve()
  }
}

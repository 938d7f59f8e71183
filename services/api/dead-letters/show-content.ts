import type { Pool } from 'pg'
import type { Clock } from '#runtime/clock.ts'
import { PermanentError } from '#runtime/errors.ts'
import { decodeRecord, type RawRecord } from '#runtime/kafka/raw-record.ts'
import type { RegistryCodec } from '#runtime/kafka/registry-codec.ts'
import type { Decoder } from '#runtime/kafka/records.ts'
import { isId } from '#schemas/ids.ts'
import { avroSchemas, topics } from '#schemas/topics.ts'
import { writeView, type Actor } from '../stores/audit-store.ts'
import type { DeadLetter } from '../stores/dead-letter-store.ts'
import { isErased } from '../stores/erasure-store.ts'
import { presentDecoded } from './present-decoded.ts'
import { orUnavailable, type ReadLetters } from './read-letters.ts'

/** The content of a dead letter, or why it is not shown. */
export type DeadLetterContent =
  { content: Record<string, unknown>; reason: null } | { content: null; reason: string }

/** Shows a dead letter's content and records who saw it. Throws 503 when Kafka or the registry is away. */
export type ShowContent = (by: Actor, letter: DeadLetter) => Promise<DeadLetterContent>

interface ShowContentDependencies {
  pool: Pool
  readLetters: ReadLetters
  registry: RegistryCodec
  topicPrefix: string
  clock: Clock
}

type Decoded = Record<string, unknown>

export function createShowContent(dependencies: ShowContentDependencies): ShowContent {
  const { pool, readLetters, clock } = dependencies
  const decoders = createDecoders(dependencies)
  return async (by, letter) => {
    const decoder = decoders.get(letter.topic)
    if (decoder === undefined) return none(`${letter.topic} is no topic whose records are known`)
    if (letter.value_bytes === null) {
      return none('its value was not kept (content that must not be kept, or too large)')
    }
    const record = (await readLetters([letter])).get(letter.id)
    if (record === undefined) return none('Kafka keeps its record no longer')
    const decoded = await decode(record, decoder)
    if (typeof decoded === 'string') return none(`it cannot be decoded: ${decoded}`)
    if (await isErased(pool, callOf(letter, decoded))) return none('its call was erased')
    const view = { action: 'dead_letter.content_viewed', subject: letter.id, projectId: letter.project_id }
    await writeView(pool, by, view, clock.now())
    return { content: presentDecoded(decoded) as Decoded, reason: null }
  }
}

/** Decoders by original topic: its dead letters have the same bytes. */
function createDecoders({ registry, topicPrefix }: ShowContentDependencies): Map<string, Decoder<Decoded>> {
  return new Map(
    Object.values(topics).map(({ name, schema }) => [
      name,
      registry.codec<Decoded>({
        subject: `${topicPrefix}${name}-value`,
        schema: avroSchemas[schema],
      }),
    ]),
  )
}

/** The value, or what is wrong with its bytes. */
async function decode(record: RawRecord, decoder: Decoder<Decoded>): Promise<Decoded | string> {
  try {
    return (await orUnavailable(() => decodeRecord(record, decoder))).value
  } catch (error) {
    if (!(error instanceof PermanentError)) throw error
    return error.message
  }
}

/** The call that it concerns, as far as the index and the record say. */
function callOf({ project_id, request_id }: DeadLetter, decoded: Decoded) {
  const text = (name: string) => (typeof decoded[name] === 'string' ? decoded[name] : null)
  const identifiers = [request_id, text('request_id'), text('content_id'), text('id')]
  return {
    projectId: [project_id, text('project_id')].find((id) => id !== null && isId('project', id)) ?? null,
    requestId: identifiers.find((id) => id !== null && isId('request', id)) ?? null,
    sessionId: text('session_id'),
    userId: text('user_id'),
  }
}

function none(reason: string): DeadLetterContent {
  return { content: null, reason }
}

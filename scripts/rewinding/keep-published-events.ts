import type { Admin, Kafka } from 'kafkajs'
import type { Client } from 'pg'
import { PermanentError } from '#runtime/errors.ts'
import { readRanges, type RecordRange } from '#runtime/kafka/read-range.ts'
import { readRecordsOf } from '#runtime/kafka/read-ranges.ts'
import { decodeRecord, type RawRecord } from '#runtime/kafka/raw-record.ts'
import type { Decoder } from '#runtime/kafka/records.ts'
import { withAdmin } from '#runtime/kafka/with-admin.ts'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import { idToUuid } from '#schemas/ids.ts'
import { topics } from '#schemas/topics.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'

export interface PublishedEventsOptions {
  kafka: Kafka
  database: Client
  prefix: string
  /** Start of the published events, in Unix milliseconds. */
  sinceMs: number
  events: Decoder<RaisedEvent>
  deliveries: Decoder<WebhookDelivery>
}

const reading = (prefix: string) => ({ groupPrefix: `${prefix}rewind-`, quietMs: 30_000 })
const deliveryGroups: readonly { group: string; names: readonly string[] }[] = [
  { group: 'notifier-due', names: [topics.deliveryDue.name] },
  {
    group: 'notifier-retry',
    names: [topics.deliveryRetry1s, topics.deliveryRetry2s, topics.deliveryRetry4s].map(({ name }) => name),
  },
]

/**
 * Restores the outbox from Kafka: events published since then are written as published, so that redelivered
 * records do not raise them again. Events whose deliveries the notifier has not finished are written as
 * unpublished: the database no longer has these deliveries. Returns the number of each kind.
 */
export async function keepPublishedEvents(
  options: PublishedEventsOptions,
): Promise<{ published: number; open: number }> {
  const { kafka, database, prefix, sinceMs } = options
  const open = await writeOpen(options)
  const topic = prefix + topics.eventRaised.name
  const ranges = Object.entries(await readRanges(kafka, topic, sinceMs)).map(
    ([partition, { next, end }]): RecordRange => ({
      topic,
      partition: Number(partition),
      offset: BigInt(next),
      end: BigInt(end),
    }),
  )
  let published = 0
  const keep = async (records: readonly RawRecord[]) => {
    for (const event of await decodeAll(records, options.events))
      if (!open.has(event.id)) published += await writeEvent(database, event, 'published')
  }
  await readRecordsOf(kafka, ranges, keep, reading(prefix))
  return { published, open: open.size }
}

/** Writes events with deliveries that the notifier has not finished, as far as Kafka knows. */
async function writeOpen({
  kafka,
  database,
  prefix,
  deliveries,
}: PublishedEventsOptions): Promise<Set<string>> {
  const ranges = await withAdmin(kafka, async (admin) => {
    const found: RecordRange[] = []
    for (const { group, names } of deliveryGroups) {
      const full = names.map((name) => prefix + name)
      found.push(...(await unreadRanges(admin, prefix + group, full)))
    }
    return found
  })
  const open = new Set<string>()
  const note = async (records: readonly RawRecord[]) => {
    for (const { event } of await decodeAll(records, deliveries)) {
      open.add(event.id)
      await writeEvent(database, event, 'waiting')
    }
  }
  await readRecordsOf(kafka, ranges, note, reading(prefix))
  return open
}

async function unreadRanges(admin: Admin, groupId: string, names: readonly string[]): Promise<RecordRange[]> {
  const ranges: RecordRange[] = []
  for (const { topic, partitions } of await admin.fetchOffsets({ groupId, topics: [...names] })) {
    const ends = new Map((await admin.fetchTopicOffsets(topic)).map((end) => [end.partition, end]))
    for (const { partition, offset } of partitions) {
      const { low = '0', high = '0' } = ends.get(partition) ?? {}
      const next = Math.max(Number(offset), Number(low))
      ranges.push({ topic, partition, offset: BigInt(next), end: BigInt(high) })
    }
  }
  return ranges
}

/** Skips what cannot be decoded: it has no event, and its consumer has dead-lettered it. */
async function decodeAll<T>(records: readonly RawRecord[], decoder: Decoder<T>): Promise<T[]> {
  const values: T[] = []
  for (const record of records) {
    try {
      values.push((await decodeRecord(record, decoder)).value)
    } catch (error) {
      if (!(error instanceof PermanentError)) throw error
    }
  }
  return values
}

/** Writes an event if the database knows its project. One that waits there was published since. */
async function writeEvent(
  database: Client,
  { id, event, project_id, created_at, data, content, content_id, webhook_id }: RaisedEvent,
  state: 'published' | 'waiting',
): Promise<number> {
  const { rowCount } = await database.query(
    `insert into event_outbox (id, event, project_id, created_at, data, content_codec, content_key_id, content_data, content_id,
       webhook_id, published_at)
     select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, case when $11 then now() end where exists (select from projects where id = $3)
     on conflict (id) do update set published_at = excluded.published_at where event_outbox.published_at is null`,
    [
      idToUuid(id),
      event,
      idToUuid(project_id),
      new Date(created_at),
      data,
      content?.codec ?? null,
      content?.key_id ?? null,
      content?.data ?? null,
      content_id,
      webhook_id === null ? null : idToUuid(webhook_id),
      state === 'published',
    ],
  )
  return rowCount ?? 0
}

import type { PermanentError } from '#runtime/errors.ts'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import { publishEach, publishOne } from '../publish-records.ts'
import { withoutContent } from '../steps/without-content.ts'
import type { Outbox, OutboxRow } from '../stores/outbox-store.ts'
import type { JobContext } from './upkeep-job.ts'

export interface EventRelayDependencies extends Pick<JobContext, 'log' | 'metrics'> {
  outbox: Outbox
  /** Resolves once Kafka has the events. */
  publishEvents: (events: readonly RaisedEvent[]) => Promise<void>
}

/** Bounds what one round holds in memory. */
const round = { maxRows: 500, maxBytes: 8 * 1024 * 1024 }

/**
 * Publishes the oldest waiting events and marks them once Kafka has them. After a crash in between they are
 * published again under the same identifiers. Resolves to whether there may be more.
 */
export function createEventRelay({
  outbox,
  publishEvents,
  log,
  metrics,
}: EventRelayDependencies): () => Promise<boolean> {
  const published = metrics.counter('sluice_outbox_published_total', 'Events published from the outbox', [
    'event',
  ])
  const curtailed = metrics.counter(
    'sluice_outbox_curtailed_total',
    'Events that Kafka refused whole, by what went of them',
    ['published'],
  )
  // From 0: the alert watches the increase, and a series that begins at 1 has none.
  for (const outcome of ['without_content', 'not']) curtailed.inc({ published: outcome }, 0)

  function logRefused(event: RaisedEvent, err: PermanentError): void {
    log.error({ err, event_id: event.id, event_name: event.event }, 'Kafka refuses an event for good')
  }

  async function publishCurtailed(event: RaisedEvent, error: PermanentError): Promise<void> {
    logRefused(event, error)
    const isPublished = await publishOne(publishEvents, withoutContent(event), logRefused)
    curtailed.inc({ published: isPublished ? 'without_content' : 'not' })
  }

  async function publish(rows: readonly OutboxRow[]): Promise<void> {
    const events = rows.map(({ event }) => event)
    await publishEach(publishEvents, events, publishCurtailed)
  }

  return async () => {
    const rows = await outbox.publishOldest(round, publish)
    for (const { event } of rows) published.inc({ event: event.event })
    return rows.length > 0
  }
}

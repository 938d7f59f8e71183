import { PermanentError } from '#runtime/errors.ts'
import type { Log } from '#runtime/log.ts'
import type { Metrics } from '#runtime/metrics.ts'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import { withoutContent } from '../steps/without-content.ts'
import type { Outbox, OutboxRow } from '../stores/outbox-store.ts'

export interface EventRelayDependencies {
  outbox: Outbox
  /** Resolves once Kafka has the events. */
  publishEvents: (events: readonly RaisedEvent[]) => Promise<void>
  log: Log
  metrics: Metrics
}

/** Bounds what one round holds in memory. */
const round = { maxRows: 500, maxBytes: 8 * 1024 * 1024 }

/**
 * One round of the outbox: publishes the oldest waiting events and marks them once Kafka has them. A crash in between publishes
 * them again under the same identifiers. Resolves to whether there may be more.
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
  // An alert is about its increase, which a series that begins at 1 does not have.
  for (const outcome of ['without_content', 'not']) curtailed.inc({ published: outcome }, 0)

  async function publish(rows: readonly OutboxRow[]): Promise<void> {
    try {
      await publishEvents(rows.map(({ event }) => event))
    } catch (error) {
      if (!(error instanceof PermanentError)) throw error
      // One of them can never be sent as it is; the others must not wait for it.
      for (const { event } of rows) await publishAlone(event)
    }
  }

  async function publishAlone(event: RaisedEvent): Promise<void> {
    const attempts = [event, withoutContent(event)]
    for (const attempt of attempts) {
      try {
        await publishEvents([attempt])
        if (attempt !== event) curtailed.inc({ published: 'without_content' })
        return
      } catch (error) {
        if (!(error instanceof PermanentError)) throw error
        log.error(
          { err: error, event_id: event.id, event_name: event.event },
          'Kafka refuses an event for good',
        )
      }
    }
    curtailed.inc({ published: 'not' })
  }

  return async () => {
    const rows = await outbox.publishOldest(round, publish)
    for (const { event } of rows) published.inc({ event: event.event })
    return rows.length > 0
  }
}

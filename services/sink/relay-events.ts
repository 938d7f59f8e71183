import type { Pool } from 'pg'
import { PermanentError } from '#runtime/errors.ts'
import type { Log } from '#runtime/log.ts'
import type { Metrics } from '#runtime/metrics.ts'
import { inTransaction } from '#runtime/postgres.ts'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import { withoutContent } from './steps/without-content.ts'
import { claimEvents, markPublished, type OutboxRow } from './stores/outbox-store.ts'

export interface EventRelayDependencies {
  pool: Pool
  /** Resolves once Kafka has the events. */
  publishEvents: (events: readonly RaisedEvent[]) => Promise<void>
  log: Log
  metrics: Metrics
}

/** Bounds what one round holds in memory. */
const roundRows = 500
const roundBytes = 8 * 1024 * 1024

/**
 * One round of the outbox: publishes the oldest waiting events and marks them once Kafka has them. Rows are locked meanwhile, so that several
 * sinks share the work; a crash in between publishes them again under the same identifiers. Resolves to whether there
 * may be more.
 */
export function createEventRelay({
  pool,
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
    const rows = await inTransaction(pool, async (client) => {
      const claimed = await claimEvents(client, roundRows, roundBytes)
      if (claimed.length === 0) return claimed
      await publish(claimed)
      await markPublished(client, claimed)
      return claimed
    })
    for (const { event } of rows) published.inc({ event: event.event })
    return rows.length > 0
  }
}

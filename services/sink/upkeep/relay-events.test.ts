import { expect, test } from '@jest/globals'
import { PermanentError, TransientError } from '#runtime/errors.ts'
import { createLog } from '#runtime/log.ts'
import { createMetrics } from '#runtime/metrics.ts'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import { createEventRelay } from './relay-events.ts'
import type { Outbox } from '../stores/outbox-store.ts'

const rows = ['evt_large', 'evt_next'].map((id, index) => ({
  seq: String(index),
  event: { id, event: 'threat_detected', data: Buffer.from('{}') } as RaisedEvent,
}))

/** An outbox marks what `publish` resolved for, and nothing where it rejects. */
const outbox: Outbox = { publishOldest: (_limits, publish) => publish(rows).then(() => rows) }

test('an event waits on when Kafka goes away while its neighbour is passed over', async () => {
  const tried: string[] = []
  const relay = createEventRelay({
    outbox,
    publishEvents(events) {
      tried.push(events.map(({ id }) => id).join())
      const isLarge = events.some(({ id }) => id === 'evt_large')
      return Promise.reject(
        isLarge
          ? new PermanentError('RECORD_TOO_LARGE', 'too large')
          : new TransientError('KAFKA_UNAVAILABLE', 'away'),
      )
    },
    log: createLog('test', 'silent'),
    metrics: createMetrics(),
  })
  await expect(relay()).rejects.toThrow('away')
  // Together; then whole and without what it quotes; then the next.
  expect(tried).toEqual(['evt_large,evt_next', 'evt_large', 'evt_large', 'evt_next'])
})

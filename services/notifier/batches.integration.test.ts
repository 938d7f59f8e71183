import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Service } from '#runtime/service.ts'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import { idToUuid } from '#schemas/ids.ts'
import { eventually } from '#tests/support/until.ts'
import { openCollector, openElastic } from './testing/batch-receivers.ts'
import { createNotifierFixture, startNotifier, type NotifierFixture } from './testing/notifier-fixture.ts'
import { raisedEvent } from './testing/sample-records.ts'

let fixture: NotifierFixture
let service: Service
const [splunk, elastic] = [await openCollector(), await openElastic()]

beforeAll(async () => {
  fixture = await createNotifierFixture()
  const allowed = [splunk, elastic].map(({ port }) => `plain:127.0.0.1:${port}`)
  const changes = { WEBHOOK_ALLOW_INSECURE: '', DESTINATION_ALLOW: allowed.join(',') }
  service = (await startNotifier(fixture, changes)).service
})
afterAll(async () => {
  await service.stop()
  await service.done
  await fixture.close()
  await Promise.all([splunk.close(), elastic.close()])
})

const raisedFor = (projectId: string, count: number): RaisedEvent[] =>
  Array.from({ length: count }, () =>
    raisedEvent({
      ...{ project_id: projectId, event: 'finding_opened' as const, created_at: Date.now() },
      ...{ fields: { scorer_name: 'pii_detection' }, content: null, content_id: null },
    }),
  )

/** Retries are due at once: nobody waits for their pauses. */
const dueNow = (id: string) =>
  fixture.pool.query('update webhook_waiting set due_at = now() where webhook_id = $1', [idToUuid(id)])

async function allSettled(id: string, events: readonly RaisedEvent[], status: string): Promise<void> {
  await eventually(
    async () => {
      await dueNow(id)
      const stored = await Promise.all(events.map((event) => fixture.delivery(event, id)))
      return stored.filter((delivery) => delivery?.status === status).length
    },
    (count) => count === events.length,
  )
}

test('the collector gets each event once, in fewer requests, though it is busy and refuses', async () => {
  const projectId = await fixture.addProject()
  const settings = { url: `http://127.0.0.1:${splunk.port}/services/collector/event` }
  const id = await fixture.addDestination({
    ...{ projectId, kind: 'splunk_hec', settings, credentials: { token: 't' } },
  })
  const events = raisedFor(projectId, 40)
  const [refused, ...good] = events
  if (refused === undefined) throw new Error('no event')
  splunk.refuse(refused.id)
  await fixture.raise(...events)
  await allSettled(id, good, 'delivered')
  expect(splunk.taken.toSorted()).toEqual(good.map((event) => event.id).toSorted())
  expect(splunk.busyAnswers).toBe(3)
  expect(splunk.requests).toBeLessThan(events.length)
  const failed = await fixture.delivery(refused, id)
  expect(failed?.status).toBe('retrying')
  expect(failed?.attempts.at(-1)).toMatchObject({ status_code: 400, error: 'the receiver answered 400' })
})

test('of a partial answer of the bulk API only the failed events are sent again', async () => {
  const projectId = await fixture.addProject()
  const settings = { url: `http://127.0.0.1:${elastic.port}/sluice/_bulk`, batch: 'bulk' }
  const id = await fixture.addDestination({ projectId, kind: 'json', settings })
  const events = raisedFor(projectId, 40)
  await fixture.raise(...events)
  await allSettled(id, events, 'delivered')
  expect([...elastic.documents.keys()].toSorted()).toEqual(events.map((event) => event.id).toSorted())
  // Every third was refused once with 429, and nothing that was taken came again.
  expect(elastic.repeated).toBe(0)
  expect(elastic.busyItems).toBeGreaterThan(5)
  expect(elastic.requests).toBeLessThan(events.length)
})

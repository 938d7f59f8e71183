import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Service } from '#runtime/service.ts'
import { startWebhookReceiver, type WebhookReceiver } from '#tests/support/webhook-receiver.ts'
import { createNotifierFixture, startNotifier, type NotifierFixture } from './testing/notifier-fixture.ts'
import { raisedEvent } from './testing/sample-records.ts'

const hanging = 30
const well = 5

let fixture: NotifierFixture
let service: Service
let receiver: WebhookReceiver

beforeAll(async () => {
  fixture = await createNotifierFixture()
  // Fewer places than the hanging endpoints would take.
  const changes = { WEBHOOK_CONCURRENCY: '100', WEBHOOK_ENDPOINT_CONCURRENCY: '8' }
  service = (await startNotifier(fixture, changes)).service
  receiver = await startWebhookReceiver()
  receiver.behave(({ path }) => {
    if (path.includes('hang')) return { kind: 'hang' }
    if (path.includes('reset')) return { kind: 'reset' }
    if (path.includes('crawl')) return { kind: 'crawl', status: 200 }
    return { kind: 'answer', status: 200, delayMs: path.includes('busy') ? 300 : 0 }
  })
})
afterAll(async () => {
  await receiver.close()
  await service.stop()
  await service.done
  await fixture.close()
})

test('many endpoints that hang take no places from the others', async () => {
  const projectId = await fixture.addProject()
  const paths = Array.from(
    { length: hanging + well },
    (_, index) => `${index < well ? 'well' : 'hang'}-${index}`,
  )
  await Promise.all(paths.map((path) => fixture.addWebhook({ url: `${receiver.url}/${path}`, projectId })))
  const countWell = () => receiver.deliveries.filter(({ path }) => path.includes('well')).length
  const first = Array.from({ length: 20 }, () => raisedEvent({ project_id: projectId }))
  await fixture.raise(...first)
  await receiver.waitFor(() => countWell() === 20 * well)
  const second = Array.from({ length: 20 }, () => raisedEvent({ project_id: projectId }))
  await fixture.raise(...second)
  await receiver.waitFor(() => countWell() === 40 * well)
  // All places together let a hundred of these go in ten seconds: had the others waited in one line with
  // them, most would have been begun.
  const hung = () => receiver.deliveries.filter(({ path }) => path.includes('hang'))
  expect(hung().length).toBeLessThan((40 * hanging) / 2)
  expect(receiver.ids()).toHaveLength(40)
  // They have their turns all the same, quick as the others may have been.
  await receiver.waitFor(() => new Set(hung().map(({ path }) => path)).size === hanging)
}, 300_000)

test('a thousand endpoints, of which some hang, some reset and some crawl: each of the others gets its event', async () => {
  const projectId = await fixture.addProject()
  const paths = Array.from({ length: 1_000 }, (_, index) => {
    const kind = ['hang', 'reset', 'crawl'][index % 20] ?? 'good'
    return `${kind}-of-many-${index}`
  })
  await Promise.all(paths.map((path) => fixture.addWebhook({ url: `${receiver.url}/${path}`, projectId })))
  const event = raisedEvent({ project_id: projectId })
  await fixture.raise(event)
  const reached = () =>
    new Set(receiver.deliveries.filter(({ id }) => id === event.id).map(({ path }) => path))
  await receiver.waitFor(() => reached().size === 1_000)
  const requests = (kind: string) =>
    receiver.deliveries.filter(({ id, path }) => id === event.id && path.includes(kind))
  expect(requests('good')).toHaveLength(850)
  expect(requests('crawl')).toHaveLength(50)
}, 300_000)

test('a project with a long queue at a slow endpoint does not keep another from its events', async () => {
  const busy = await fixture.addProject()
  const quiet = await fixture.addProject()
  await fixture.addWebhook({ url: `${receiver.url}/busy`, projectId: busy })
  await fixture.addWebhook({ url: `${receiver.url}/calm`, projectId: quiet })
  const count = (path: string) =>
    receiver.deliveries.filter((delivery) => delivery.path.endsWith(path)).length
  await fixture.raise(...Array.from({ length: 800 }, () => raisedEvent({ project_id: busy })))
  await receiver.waitFor(() => count('busy') >= 8)
  await fixture.raise(...Array.from({ length: 20 }, () => raisedEvent({ project_id: quiet })))
  await receiver.waitFor(() => count('calm') === 20)
  // Eight places of 0.3 s each: in one line with them the others would have come last.
  expect(count('busy')).toBeLessThan(800)
}, 300_000)

import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Service } from '#runtime/service.ts'
import { startWebhookReceiver, type WebhookReceiver } from '#tests/support/webhook-receiver.ts'
import { setNotifierStage, startNotifier, type NotifierStage } from './testing/notifier-stage.ts'
import { raisedEvent } from './testing/sample-records.ts'

const hanging = 30
const well = 5

let stage: NotifierStage
let service: Service
let receiver: WebhookReceiver

beforeAll(async () => {
  stage = await setNotifierStage()
  // Fewer places than the hanging endpoints would take.
  const changes = { WEBHOOK_CONCURRENCY: '100', WEBHOOK_ENDPOINT_CONCURRENCY: '8' }
  service = (await startNotifier(stage, changes)).service
  receiver = await startWebhookReceiver()
  receiver.behave(({ path }) => (path.includes('hang') ? { kind: 'hang' } : { kind: 'answer', status: 200 }))
}, 60_000)
afterAll(async () => {
  await receiver.close()
  await service.stop()
  await service.done
  await stage.close()
}, 60_000)

test('many endpoints that hang take no places from the others', async () => {
  const projectId = await stage.addProject()
  const paths = Array.from(
    { length: hanging + well },
    (_, index) => `${index < well ? 'well' : 'hang'}-${index}`,
  )
  await Promise.all(paths.map((path) => stage.addWebhook({ url: `${receiver.url}/${path}`, projectId })))
  const countWell = () => receiver.deliveries.filter(({ path }) => path.includes('well')).length
  const first = Array.from({ length: 20 }, () => raisedEvent({ project_id: projectId }))
  await stage.raise(...first)
  await receiver.waitFor(() => countWell() === 20 * well, 50_000)
  const second = Array.from({ length: 20 }, () => raisedEvent({ project_id: projectId }))
  await stage.raise(...second)
  await receiver.waitFor(() => countWell() === 40 * well, 50_000)
  // All places together let a hundred of these go in ten seconds: had the others waited in one line with them, most would have been begun.
  const hung = receiver.deliveries.filter(({ path }) => path.includes('hang'))
  expect(hung.length).toBeGreaterThanOrEqual(hanging)
  expect(hung.length).toBeLessThan((40 * hanging) / 2)
  expect(receiver.ids()).toHaveLength(40)
}, 120_000)

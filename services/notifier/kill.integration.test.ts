import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { freePorts } from '#infra/embedded/free-port.ts'
import { topics } from '#schemas/topics.ts'
import { startServiceProcess, type ServiceProcess } from '#tests/support/service-process.ts'
import { accept, startWebhookReceiver, type WebhookReceiver } from '#tests/support/webhook-receiver.ts'
import { eventually, setNotifierStage, type NotifierStage } from './testing/notifier-stage.ts'
import { raisedEvent } from './testing/sample-records.ts'

let stage: NotifierStage
let receiver: WebhookReceiver
let notifier: ServiceProcess
let directory: string

beforeAll(async () => {
  stage = await setNotifierStage()
  receiver = await startWebhookReceiver()
  directory = await mkdtemp(join(tmpdir(), 'sluice-notifier-'))
  const [operationsPort] = (await freePorts(1)) as [number]
  const logFile = join(directory, 'notifier.log')
  notifier = await startServiceProcess({
    name: 'notifier',
    environment: stage.environment,
    operationsPort,
    logFile,
  })
}, 90_000)

afterAll(async () => {
  expect(await notifier.stop()).toBe(0)
  await receiver.close()
  await stage.close()
  await rm(directory, { recursive: true })
}, 60_000)

test('kill -9 in the midst of attempts: each delivered or dead once, at most one extra request with the same id', async () => {
  const projectId = await stage.addProject()
  const webhooks = await Promise.all(
    ['steady', 'failing'].map((path) => stage.addWebhook({ url: `${receiver.url}/${path}`, projectId })),
  )
  receiver.trust(...webhooks.map(({ secret }) => secret))
  receiver.behave(({ path }) =>
    path.endsWith('failing') ? { kind: 'answer', status: 500 } : { ...accept, delayMs: 150 },
  )
  const events = Array.from({ length: 150 }, () => raisedEvent({ project_id: projectId }))
  await stage.raise(...events)
  await receiver.waitFor((all) => all.length >= 40)
  await notifier.killAndRestart()

  const [steady, failing] = webhooks.map(({ id }) => id) as [string, string]
  for (const event of events) {
    await stage.settled(event, steady, 'delivered', 120_000)
    const dead = await stage.settled(event, failing, 'failed', 120_000)
    expect(dead.attempts.map(({ number }) => number)).toEqual([1, 2, 3, 4])
  }
  expect(receiver.deliveries.every(({ verified }) => verified)).toBe(true)
  const requests = Map.groupBy(receiver.deliveries, ({ deliveryId }) => deliveryId)
  expect(requests.size).toBe(300)
  const counts = Map.groupBy(requests.values(), ([first, ...more]) =>
    first?.path.endsWith('failing') === true ? `failing ${more.length + 1}` : `steady ${more.length + 1}`,
  )
  // One process was killed once: one extra request at most.
  expect(
    [...counts.keys()].filter((kind) => !['steady 1', 'steady 2', 'failing 4', 'failing 5'].includes(kind)),
  ).toEqual([])
  await eventually(
    () => stage.waiting(),
    (count) => count === 0,
  )
  const dead = await stage.read(topics.deliveryDead)
  expect(new Set(dead.map(({ event }) => event.id))).toEqual(new Set(events.map(({ id }) => id)))
}, 240_000)

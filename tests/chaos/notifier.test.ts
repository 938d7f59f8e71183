import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import { freePorts } from '#infra/embedded/free-port.ts'
import {
  startKafkaCluster,
  type ClusterBroker,
  type KafkaCluster,
} from '#infra/embedded/start-kafka-cluster.ts'
import { migrate } from '#infra/migrate.ts'
import { SluiceError } from '#runtime/errors.ts'
import { readGroupOffsets } from '#runtime/kafka/read-group-offsets.ts'
import { idFromUuid } from '#schemas/ids.ts'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import { deadLetterTopic, topics } from '#schemas/topics.ts'
import { deliveryId } from '#schemas/webhook-delivery.ts'
import { createNotifierFixture, type NotifierFixture } from '#services/notifier/testing/notifier-fixture.ts'
import { raisedEvent } from '#services/notifier/testing/sample-records.ts'
import { startOwnPostgres, type OwnPostgres } from '../support/own-postgres.ts'
import { readLog } from '../support/read-log.ts'
import { startServiceProcess, type ServiceProcess } from '../support/service-process.ts'
import { until } from '../support/until.ts'
import { accept, startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts'

jest.setTimeout(300_000)

const cacheDirectory = join(import.meta.dirname, '..', '..', '.cache')
const outageMs = 2_000

let directory: string
let cluster: KafkaCluster
let postgres: OwnPostgres
let fixture: NotifierFixture
let receiver: WebhookReceiver
let notifiers: ServiceProcess[]

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sluice-chaos-'))
  const kafka = { brokers: 1, directory: join(directory, 'kafka'), cacheDirectory, say: () => undefined }
  ;[cluster, postgres] = await Promise.all([startKafkaCluster(kafka), startOwnPostgres(directory, true)])
  await migrate(postgres.address)
  fixture = await createNotifierFixture({ brokers: cluster.addresses, databaseUrl: postgres.address })
  receiver = await startWebhookReceiver()
  notifiers = await Promise.all(
    (await freePorts(2)).map((operationsPort, index) =>
      startServiceProcess({
        name: 'notifier',
        environment: fixture.environment,
        operationsPort,
        logFile: join(directory, `notifier-${index}.log`),
      }),
    ),
  )
})

afterAll(async () => {
  await Promise.all(notifiers.map((notifier) => notifier.stop()))
  await receiver.close()
  await fixture.close()
  await Promise.all([cluster.stop(), postgres.stop()])
  await rm(directory, { recursive: true, force: true })
})

test('two notifiers, killed in turn, the broker killed, Postgres killed: each event reaches each webhook or is dead', async () => {
  const projectIds = await Promise.all([fixture.addProject(), fixture.addProject()])
  const paths = ['steady', 'flaky', 'failing']
  const webhooks = await Promise.all(
    projectIds.flatMap((projectId) =>
      paths.map(async (path) => {
        const { id, secret } = await fixture.addWebhook({ url: `${receiver.url}/${path}`, projectId })
        return { id, secret, projectId, path }
      }),
    ),
  )
  receiver.trust(...webhooks.map(({ secret }) => secret))
  receiver.behave(({ path, deliveryId: id }) => {
    if (path.endsWith('failing')) return { kind: 'answer', status: 500 }
    const isFirst = receiver.deliveries.filter((delivery) => delivery.deliveryId === id).length === 1
    return path.endsWith('flaky') && isFirst ? { kind: 'reset' } : { ...accept, delayMs: 50 }
  })

  let faultsAreOver = false
  const raising = raiseWhile(() => !faultsAreOver, projectIds)
  const [events] = await Promise.all([raising, makeFaults().finally(() => (faultsAreOver = true))])

  const expected = new Map(
    events.flatMap((event) =>
      webhooks
        .filter(({ projectId }) => projectId === event.project_id)
        .map(({ id, path }) => [
          deliveryId(event, id),
          `${path} ${path === 'failing' ? 'failed' : 'delivered'}`,
        ]),
    ),
  )
  const pathOf = new Map(webhooks.map(({ id, path }) => [id, path]))
  await until(
    async () => {
      // The receivers share this process: polling fifty times a second made them answer late on two busy
      // cores.
      await sleep(250)
      return (await countSettled()) === expected.size && (await fixture.waiting()) === 0
    },
    150_000,
    async () => JSON.stringify(await readUnsettled(expected.size)),
  )
  const states = new Map((await readDeliveries()).map((row) => [row.id, stateOf(row, pathOf)]))
  const wrong = [...expected].filter(([id, state]) => states.get(id) !== state)
  expect({ wrong, ends: wrong.length === 0 ? [] : await readEnds() }).toEqual({ wrong: [], ends: [] })
  expect(states.size).toBe(expected.size)

  expect(receiver.deliveries.every(({ verified }) => verified)).toBe(true)
  const requests = Map.groupBy(receiver.deliveries, (delivery) => delivery.deliveryId)
  expect(new Set(requests.keys())).toEqual(new Set(expected.keys()))
  const ends = notifiers.reduce((sum, { restarts }) => sum + restarts(), 0)
  for (const { id, attempts } of await readDeliveries()) {
    const sent = requests.get(id) ?? []
    expect(new Set(sent.map(({ body }) => body.toString())).size).toBe(1)
    // An attempt is repeated only if its process ended before recording it.
    expect(sent.length).toBeGreaterThanOrEqual(attempts)
    expect(sent.length).toBeLessThanOrEqual(attempts + ends)
  }
  const dead = await fixture.read(topics.deliveryDead)
  const failed = [...expected].filter(([, state]) => state === 'failing failed').map(([id]) => id)
  expect(new Set(dead.map(({ delivery_id: id }) => id))).toEqual(new Set(failed))
})

async function countSettled(): Promise<number> {
  const { rows } = await fixture.pool.query<{ settled: number }>(
    "select count(*)::int as settled from webhook_deliveries where status in ('delivered', 'failed')",
  )
  return rows[0]?.settled ?? NaN
}

/** Deliveries that are not finished, and the number that do not exist. */
async function readUnsettled(expected: number): Promise<object> {
  const { rows: waiting } = await fixture.pool.query<object>('select * from webhook_waiting limit 20')
  const { rows: open } = await fixture.pool.query<object>(`
    select d.id, d.webhook_id, d.status, d.attempt_count, d.created_at, array_agg(to_jsonb(a) - 'response_excerpt') as attempts
    from webhook_deliveries d left join webhook_attempts a on a.delivery_id = d.id
    where d.status not in ('delivered', 'failed') group by d.id limit 20`)
  const written = (await readDeliveries()).length
  const said = await Promise.all(notifiers.map(async ({ output }) => (await output()).split('\n').slice(-15)))
  return { expected, written, settled: await countSettled(), waiting, open, said, ...(await readEvents()) }
}

/** How far the events have been handled, and why some never were. */
async function readEvents(): Promise<object> {
  const topic = fixture.prefix + topics.eventRaised.name
  const { ends, handled } = await readGroupOffsets(fixture.kafka, topic, `${fixture.prefix}notifier-fan-out`)
  const unhandled = [...ends].map(([partition, end]) => Number(end - (handled.get(partition) ?? 0n)))
  const letters = await readLog(fixture.kafka, deadLetterTopic(topic))
  const refused = letters.map(({ headers }) => String(headers['sluice-dlq-message']))
  return { unhandled, refused }
}

/** Results of attempts, for the message of a failed test. */
async function readEnds(): Promise<object[]> {
  const { rows } = await fixture.pool.query<object>(`
    select d.webhook_id, a.number, coalesce(a.error, case when a.finished_at is null then 'not written' else 'delivered' end) as ended, count(*)
    from webhook_attempts a join webhook_deliveries d on d.id = a.delivery_id group by 1, 2, 3 order by 1, 2, 3`)
  return rows
}

async function makeFaults(): Promise<void> {
  const [one, other] = notifiers as [ServiceProcess, ServiceProcess]
  const [broker] = cluster.brokers as [ClusterBroker]
  await sleep(1_500)
  await one.killAndRestart()
  await broker.kill()
  await sleep(outageMs)
  await broker.restart()
  await sleep(1_500)
  await postgres.kill()
  await sleep(outageMs)
  await postgres.startAgain()
  await other.killAndRestart()
}

/**
 * Raises an event per project every quarter of a second through all outages, with the same id until stored.
 * More would not be harder, only slow the receivers on a busy machine.
 */
async function raiseWhile(goOn: () => boolean, projectIds: readonly string[]): Promise<RaisedEvent[]> {
  const raised: RaisedEvent[] = []
  while (goOn()) {
    const events = projectIds.map((projectId) => raisedEvent({ project_id: projectId }))
    await untilTaken(() => fixture.raise(...events))
    raised.push(...events)
    await sleep(250)
  }
  return raised
}

async function untilTaken(attempt: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      await attempt()
      return
    } catch (error) {
      if (!(error instanceof SluiceError) || error.retry !== 'later') throw error
    }
  }
}

interface DeliveryRow {
  id: string
  webhookId: string
  status: string
  attempts: number
}

async function readDeliveries(): Promise<DeliveryRow[]> {
  const { rows } = await fixture.pool.query<DeliveryRow>(
    `select d.id, d.webhook_id as "webhookId", d.status, count(a.number)::int as attempts
     from webhook_deliveries d left join webhook_attempts a on a.delivery_id = d.id group by d.id`,
  )
  return rows.map((row) => ({
    ...row,
    id: idFromUuid('delivery', row.id),
    webhookId: idFromUuid('webhook', row.webhookId),
  }))
}

function stateOf({ webhookId, status }: DeliveryRow, pathOf: ReadonlyMap<string, string>): string {
  return `${pathOf.get(webhookId) ?? ''} ${status}`
}

import { expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { createKafka } from '#runtime/kafka/create-kafka.ts'
import { createRegistryCodec } from '#runtime/kafka/registry-codec.ts'
import { createLog } from '#runtime/log.ts'
import { idTimeMs, newId } from '#schemas/ids.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import { avroSchemas, topics } from '#schemas/topics.ts'
import { sampleCall } from '#services/sink/testing/sample-records.ts'
import { testInfrastructure } from '#tests/support/infrastructure.ts'
import { until } from '#tests/support/until.ts'
import { expectAccessible, goTo, type TaskFixture } from './task-fixture.ts'

const topic = topics.requestLogged.name
/** Older than the sink's partitions (SINK_LATE_MAX_DAYS is 35). */
const tooOldMs = 40 * 86_400_000

/** Operators' pages. */
export function operatingTasks(fixture: () => TaskFixture): void {
  test('a dead letter is found, read, and sent back once its cause is gone; another is dropped with a reason', async () => {
    const { admin, read, system, project } = fixture()
    const { page } = admin
    const late = sampleCall(project.id, { id: newId('request', Date.now() - tooOldMs) })
    await send(fixture(), late)
    const letters = async (query: string) => Number((await read(`/api/dead-letters?${query}`))['total'])
    await until(async () => (await letters('status=open')) === 2)

    await goTo(page, '/operations', 'Operations')
    await page.getByRole('table', { name: 'Consumers' }).getByText('sink-calls').first().waitFor()
    const waiting = page
      .getByRole('table', { name: 'Dead letters' })
      .getByRole('row')
      .filter({ hasText: topic })
    expect(await waiting.getByRole('cell').nth(1).innerText()).toBe('2')
    await waiting.getByRole('link').click()
    await page.getByRole('heading', { level: 1, name: 'Dead letters' }).waitFor()
    await page.getByRole('button', { name: 'Remove the filter on topic' }).waitFor()

    const drawer = await inspect(page, 'NO_PARTITION')
    await drawer.getByRole('button', { name: 'Show content' }).click()
    await drawer.locator('pre').getByText(late.id).waitFor()
    await expectAccessible(page)
    await system.pool.query('select ensure_day_partitions($1::date)', [dayOf(late)])
    await drawer.getByRole('button', { name: 'Send back' }).click()
    await page.getByText('Sent back to its topic.').waitFor()
    const stored = `/api/requests/${late.id}?project_id=${project.id}`
    await until(async () => (await system.call('GET', stored)).status === 200)

    const other = await inspect(page, 'UNDECODABLE')
    await other.getByRole('button', { name: 'Show content' }).click()
    await other.getByText(/cannot be decoded/).waitFor()
    await other.getByLabel('Reason for dropping').fill('sent by hand')
    await other.getByRole('button', { name: 'Drop' }).click()
    await page.getByText('No open dead letters').waitFor()
    await page.getByText('dropped', { exact: true }).click()
    const dropped = await inspect(page, 'UNDECODABLE')
    await dropped.getByText('sent by hand').waitFor()
    expect([await letters('status=dropped'), await letters('status=redriven')]).toEqual([1, 1])
  })

  test('what a gateway reports stands on the operations page', async () => {
    const { admin, project, system } = fixture()
    const report = {
      name: 'gateway-eu',
      version: '1.2.3',
      delivery: 'kafka',
      started_at: new Date().toISOString(),
      spool: { records: 412, bytes: 1_830_000, oldest_at: new Date().toISOString() },
      lost: { spool_full: 3 },
      problems: { kafka: 'brokers do not answer' },
    }
    const { status, text } = await system.call('POST', '/internal/gateways/heartbeat', report, project.key)
    expect([status, text]).toEqual([204, ''])
    await goTo(admin.page, '/operations', 'Operations')
    await admin.page.getByRole('alert').getByText('gateway-eu, kafka: brokers do not answer').waitFor()
    const row = admin.page
      .getByRole('table', { name: 'Gateways' })
      .getByRole('row')
      .filter({ hasText: 'gateway-eu' })
    expect(await row.innerText()).toMatch(/412[\s\S]*3 lost: spool_full/)
  })
}

/** A call, then bytes that are not one. */
async function send({ system }: TaskFixture, call: LoggedCall): Promise<void> {
  const { brokers, registryUrl } = testInfrastructure()
  const log = createLog('tasks-test', 'silent')
  const full = `${String(system.environment['TOPIC_PREFIX'])}${topic}`
  const codec = createRegistryCodec({ url: registryUrl, log }).codec<LoggedCall>({
    subject: `${full}-value`,
    schema: avroSchemas.LlmRequestLogged,
  })
  const producer = createKafka({ KAFKA_BROKERS: brokers }, { clientId: 'tasks-test', log }).producer()
  await producer.connect()
  const messages = [
    { key: call.id, value: await codec.encode(call) },
    { key: newId('request'), value: Buffer.from('no Avro') },
  ]
  await producer.send({ topic: full, messages })
  await producer.disconnect()
}

async function inspect(page: Page, code: string) {
  const row = page.getByRole('table', { name: 'Dead letters' }).getByRole('row').filter({ hasText: code })
  await row.getByRole('button', { name: 'Inspect' }).click()
  const drawer = page.getByRole('dialog', { name: 'Dead letter' })
  await drawer.getByRole('table').getByText(code).waitFor()
  return drawer
}

function dayOf({ id }: LoggedCall): string {
  return new Date(idTimeMs(id)).toISOString().slice(0, 10)
}

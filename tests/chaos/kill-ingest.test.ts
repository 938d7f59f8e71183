import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import { freePorts } from '#infra/embedded/free-port.ts'
import { idToUuid, newId } from '#schemas/ids.ts'
import { startServiceProcess, type ServiceProcess } from '#tests/support/service-process.ts'
import { operatorSecret, startApi, type RunningApi } from '#tests/support/start-api.ts'
import { testInfrastructure } from '#tests/support/infrastructure.ts'
import { until } from '#tests/support/until.ts'

jest.setTimeout(300_000)

const kills = 3
const senders = 8

/** The survivor, in this process; the other is killed. Both use one database. */
let api: RunningApi
let victim: ServiceProcess
let victimUrl: string
let directory: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sluice-ingest-'))
  const { brokers, registryUrl } = testInfrastructure()
  let databaseUrl = ''
  api = await startApi((url) => {
    databaseUrl = url
    return {}
  })
  const [port, operationsPort] = (await freePorts(2)) as [number, number]
  victimUrl = `http://127.0.0.1:${port}`
  victim = await startServiceProcess({
    name: 'api',
    operationsPort,
    environment: {
      KAFKA_BROKERS: brokers.join(','),
      SCHEMA_REGISTRY_URL: registryUrl,
      DATABASE_URL: databaseUrl,
      TOPIC_PREFIX: api.topicPrefix,
      INTERNAL_API_SECRET: operatorSecret,
      API_PORT: String(port),
    },
    logFile: join(directory, 'api.log'),
  })
})

afterAll(async () => {
  await victim.stop()
  await api.stop()
  await rm(directory, { recursive: true, force: true })
})

test('kill -9 under load and every id sent again to another process: the quota counter is the number of ids', async () => {
  const { projectId, key } = await api.createProject({ tier: 'pro' })
  const sent: string[] = []
  let answered = 0
  let isOver = false
  const send = async () => {
    while (!isOver) {
      const id = newId('request')
      sent.push(id)
      try {
        const response = await fetch(`${victimUrl}/internal/log`, {
          method: 'POST',
          headers: { 'x-service-key': key },
          body: JSON.stringify({ id, request_body: { nonce: randomBytes(8).toString('hex') } }),
        })
        if (response.status === 202) answered++
        await response.arrayBuffer()
      } catch (error) {
        // fetch: the process was killed. Compared by name: jest's TypeError is another class than Node's.
        if ((error as Error).name !== 'TypeError') throw error
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }
  }
  const sending = Promise.all(Array.from({ length: senders }, send))
  for (let kill = 0; kill < kills; kill++) {
    const before = answered
    await until(() => answered > before + 60)
    await victim.killAndRestart()
  }
  isOver = true
  await sending
  expect(victim.restarts()).toBe(kills)

  const ids = [...new Set(sent)]
  for (let start = 0; start < ids.length; start += 500) {
    const records = ids.slice(start, start + 500).map((id) => ({ id, request_body: {} }))
    const { json } = await api.call('POST', '/internal/log/batch', { key, body: { records } })
    expect((json['results'] as { status?: string }[]).map(({ status }) => status)).toEqual(
      records.map(() => 'queued'),
    )
  }
  const { rows } = await api.pool.query<{ counted: string; claimed: string }>(
    `select requests_this_period as counted, (select count(*) from quota_claims where project_id = $1) as claimed
     from subscriptions where project_id = $1`,
    [idToUuid(projectId)],
  )
  expect(rows).toEqual([{ counted: String(ids.length), claimed: String(ids.length) }])
})

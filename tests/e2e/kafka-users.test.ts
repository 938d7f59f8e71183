import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import type { Kafka } from 'kafkajs'
import { kafkaClients } from '#infra/kafka-acls.ts'
import { allGroups } from '#schemas/services.ts'
import { createKafka, type ClusterConfig } from '#runtime/kafka/create-kafka.ts'
import { withAdmin } from '#runtime/kafka/with-admin.ts'
import { createLog } from '#runtime/log.ts'
import { topics } from '#schemas/topics.ts'
import { createWebhook } from '../support/create-webhook.ts'
import { startMockProvider, type MockProvider } from '../support/mock-provider.ts'
import { programEnvironment } from '../support/program-environment.ts'
import { sendPrompts } from '../support/send-prompts.ts'
import { startSecureKafka, type SecureKafka } from '../support/start-secure-kafka.ts'
import { startStack, type Stack } from '../support/start-stack.ts'
import { until } from '../support/until.ts'
import { accept, startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.ts'

jest.setTimeout(300_000)

const repository = join(import.meta.dirname, '..', '..')
const users = kafkaClients.map((client) => `sluice-${client}`)
const log = createLog('test', 'silent')
let directory: string
let secure: SecureKafka
let provider: MockProvider
let receiver: WebhookReceiver
let stack: Stack

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sluice-secure-'))
  secure = await startSecureKafka(directory, join(repository, '.cache'), users, async (kafka) => {
    await listTopics(configOf(kafka, kafka.user))
  })
  provider = await startMockProvider()
  receiver = await startWebhookReceiver()
  stack = await startStack({
    upstreamUrl: provider.url,
    insecureWebhookHosts: '127.0.0.1',
    kafka: {
      environmentOf: (client) => environmentOf(`sluice-${client}`),
      async allow(prefix) {
        const script = join(repository, 'scripts', 'kafka-acls.ts')
        const options = ['--apply', '--topic-prefix', prefix]
        const env = { ...programEnvironment(), ...environmentOf(secure.user) }
        await promisify(execFile)(process.execPath, [script, ...options], { env })
      },
    },
  })
})

afterAll(async () => {
  await stack.stop()
  await receiver.close()
  await provider.stop()
  await secure.stop()
  await rm(directory, { recursive: true, force: true })
})

test('each process as its own user: a call goes all the way, with retries, dead letters and replays', async () => {
  receiver.trust(await createWebhook(stack, receiver.url))
  receiver.behave((_delivery, before) => (before === 0 ? { kind: 'answer', status: 500 } : accept))
  const [id] = await sendPrompts({ ...stack, prompts: ['My card is 4111 1111 1111 1111'], concurrency: 1 })

  await produce('sluice-gateway', topics.requestLogged.name, 'no call')
  const letters = () => operate('GET', '/api/dead-letters')
  await until(async () => ((await letters())['items'] as unknown[]).length === 1)
  const [letter] = (await letters())['items'] as { id: string }[]
  await operate('POST', `/api/dead-letters/${letter?.id}/redrive`)
  await until(async () => ((await letters())['items'] as unknown[]).length === 2)

  await receiver.waitFor((all) => all.length === 2)
  expect(receiver.deliveries.map(({ envelope: { data } }) => data['request_id'])).toEqual([id, id])
  await replayByHand(receiver.deliveries[0]?.deliveryId)
  // A large call takes a separate lane.
  await sendPrompts({ ...stack, prompts: ['The committee met again. '.repeat(12_000)], concurrency: 1 })
  await until(async () => (await groupsNow()).includes('scorer-large'))
  const range = { start: new Date(Date.now() - 3_600_000), end: new Date(Date.now() + 60_000) }
  const { run } = await operate('POST', '/api/score-runs', { ...range, source: 'kafka' })
  const statusOf = () => operate('GET', `/api/score-runs/${(run as { id: string }).id}`)
  await until(
    async () => (await statusOf())['status'] === 'done',
    60_000,
    async () => JSON.stringify(await statusOf()),
  )
  expect(await statusOf()).toMatchObject({ calls_total: 2, calls_scored: 2 })

  // The replay's group is shown from its first commit on.
  const allGroups = watchedGroups().join()
  await until(
    async () => (await groupsNow()).join() === allGroups,
    undefined,
    async () => (await groupsNow()).join(),
  )
  for (const { name, output } of Object.values(stack.processes))
    expect({
      name,
      refused: /^.*(not authorized|AUTHORIZATION_FAILED).*$/im.exec(await output())?.[0],
    }).toEqual({
      name,
      refused: undefined,
    })
})

test('a user has no other access', async () => {
  const logged = topics.requestLogged.name
  await expect(produce('sluice-scorer', logged, 'forged')).rejects.toThrow(/not authorized/i)
  await expect(produce('sluice-notifier', topics.scoreRecorded.name, 'forged')).rejects.toThrow(
    /not authorized/i,
  )
  // Topics that a user may not describe are hidden.
  expect(await listTopics(configOf(secure, 'sluice-scorer'))).not.toContain(stack.topicPrefix + logged)
  const kafka = kafkaOf('sluice-sink')
  const deletion = withAdmin(kafka, (admin) => admin.deleteTopics({ topics: [stack.topicPrefix + logged] }))
  await expect(deletion).rejects.toThrow(/not authorized/i)
})

test.each(['plain', 'scram-sha-256', 'scram-sha-512'] as const)(
  'a client is let in by %s',
  async (mechanism) => {
    const config = { ...configOf(secure, secure.user), KAFKA_SASL_MECHANISM: mechanism }
    expect(await listTopics(config)).toContain(stack.topicPrefix + topics.requestLogged.name)
  },
)

test('a client fails with a certificate of another authority, or with a wrong password', async () => {
  const config = configOf(secure, secure.user)
  await expect(listTopics({ ...config, KAFKA_SSL_CA: undefined })).rejects.toThrow(/certificate/)
  await expect(listTopics({ ...config, KAFKA_SASL_PASSWORD: 'wrong' })).rejects.toThrow(/authenticat|SASL/i)
})

function configOf(kafka: Omit<SecureKafka, 'stop'>, user: string) {
  return {
    KAFKA_BROKERS: [kafka.address],
    KAFKA_SSL: true,
    KAFKA_SSL_CA: kafka.authority,
    KAFKA_SASL_MECHANISM: 'plain',
    KAFKA_SASL_USERNAME: user,
    KAFKA_SASL_PASSWORD: kafka.password,
  } satisfies ClusterConfig
}

function environmentOf(user: string): Record<string, string> {
  const given = Object.entries(configOf(secure, user)).map(([name, value]) => [name, String(value)])
  return Object.fromEntries(given) as Record<string, string>
}

const kafkaOf = (user: string): Kafka => createKafka(configOf(secure, user), { clientId: 'test', log })

async function listTopics(config: ClusterConfig): Promise<string[]> {
  const admin = createKafka(config, { clientId: 'secure', log }).admin()
  try {
    await admin.connect()
    return await admin.listTopics()
  } finally {
    await admin.disconnect()
  }
}

async function produce(user: string, topic: string, value: string): Promise<void> {
  const producer = kafkaOf(user).producer({ idempotent: true, maxInFlightRequests: 1 })
  try {
    await producer.connect()
    await producer.send({ topic: stack.topicPrefix + topic, acks: -1, messages: [{ key: 'k', value }] })
  } finally {
    await producer.disconnect()
  }
}

/** Forces `webhook.delivery.due`: first attempts are made by the consumer of the event. */
async function replayByHand(deliveryId: string | undefined): Promise<void> {
  const ask = (method: string, path: string) => operate(method, path, undefined, stack.apiKey)
  const [webhook] = (await ask('GET', '/api/v1/webhooks'))['items'] as { id: string }[]
  const deliveries = `/api/v1/webhooks/${webhook?.id}/deliveries`
  await until(async () => (await ask('GET', `${deliveries}?status=delivered`))['total'] === 1)
  await ask('POST', `${deliveries}/${deliveryId}/replay`)
  await receiver.waitFor((all) => all.length === 3)
}

async function operate(
  method: string,
  path: string,
  body?: object,
  secret = stack.operatorSecret,
): Promise<Record<string, unknown>> {
  const response = await fetch(stack.apiUrl + path, {
    method,
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as Record<string, unknown>
}

/** Groups that have committed something. */
async function groupsNow(): Promise<string[]> {
  const { groups } = (await operate('GET', '/api/operations')) as { groups: { group: string }[] }
  return [...new Set(groups.map(({ group }) => group))].sort()
}

/** Groups that `/api/operations` must report: every group that a service reads with. */
function watchedGroups(): string[] {
  return [...allGroups].sort()
}

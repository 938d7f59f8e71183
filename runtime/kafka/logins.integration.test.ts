import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Kafka } from 'kafkajs'
import { z } from 'zod'
import { startLoginKafka, type LoginKafka } from '#tests/support/start-login-kafka.ts'
import { kafkaFields, parseConfig } from '../config.ts'
import { messageOf } from '../errors.ts'
import { createLog } from '../log.ts'
import { createMetrics } from '../metrics.ts'
import { createKafka } from './create-kafka.ts'
import { createProducer } from './producer.ts'

const log = createLog('logins-test', 'silent')
const schema = z.object(kafkaFields)
/** Brokers close connections that have not logged in again by then. kafkajs does so 10 s before. */
const reauthMs = 11_000
let directory: string
let broker: LoginKafka
let provider: Server
let tokenUrl: string
let asked: URLSearchParams[]
let subject: string

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sluice-logins-'))
  broker = await startLoginKafka(directory, join(import.meta.dirname, '..', '..', '.cache'), reauthMs)
  // Stands for the identity provider. The broker takes tokens without a signature.
  provider = createServer((request, response) => {
    void request.toArray().then((chunks) => {
      const form = new URLSearchParams(Buffer.concat(chunks as Buffer[]).toString())
      asked.push(form)
      const isKnown = form.get('client_id') === 'sluice' && form.get('client_secret') === 'a-client-secret'
      response.writeHead(isKnown ? 200 : 401).end(isKnown ? tokenFor(subject) : '{}')
    })
  })
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve))
  tokenUrl = `http://127.0.0.1:${(provider.address() as AddressInfo).port}/token`
}, 120_000)
afterAll(async () => {
  provider.closeAllConnections()
  provider.close()
  await broker.stop()
  await rm(directory, { recursive: true })
})

/** An unsecured JWS (RFC 7515, A.5). */
function tokenFor(sub: string): string {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
  const iat = Math.floor(Date.now() / 1_000)
  const token = `${encode({ alg: 'none' })}.${encode({ sub, iat, exp: iat + 3_600 })}.`
  return JSON.stringify({ access_token: token, token_type: 'Bearer', expires_in: 3_600 })
}

function kafkaOf(environment: Record<string, string>): Kafka {
  const parsed = parseConfig(schema, environment)
  if (!parsed.ok) throw new Error(parsed.problems.join('; '))
  return createKafka(parsed.value, { clientId: 'logins-test', log })
}

const withTokens = (more: Record<string, string> = {}) => ({
  KAFKA_BROKERS: broker.tokens,
  KAFKA_SASL_MECHANISM: 'oauthbearer',
  KAFKA_OAUTH_TOKEN_URL: tokenUrl,
  KAFKA_OAUTH_CLIENT_ID: 'sluice',
  KAFKA_OAUTH_CLIENT_SECRET: 'a-client-secret',
  KAFKA_OAUTH_SCOPE: 'kafka',
  ...more,
})

/** The topics that the broker names, or why it does not. */
async function ask(kafka: Kafka): Promise<string[] | string> {
  const admin = kafka.admin({ retry: { retries: 0 } })
  try {
    await admin.connect()
    return await admin.listTopics()
  } catch (error) {
    return messageOf(error)
  } finally {
    await admin.disconnect()
  }
}

test('a token of the identity provider opens connections, and keeps them after the broker asks again', async () => {
  asked = []
  subject = 'sluice'
  const kafka = kafkaOf(withTokens())
  const admin = kafka.admin()
  await admin.connect()
  await admin.createTopics({ topics: [{ topic: 'by-token', numPartitions: 1 }] })
  for (const compression of ['zstd', 'gzip', 'none'] as const) {
    const producer = createProducer({ kafka, log, metrics: createMetrics(), compression })
    const value = Buffer.from(`${compression} `.repeat(1_000))
    await producer.send([{ topic: 'by-token', key: 'k', value }])
    await producer.stop()
  }
  const until = Date.now() + reauthMs + 1_000
  while (Date.now() < until) {
    await admin.listTopics()
    await delay(500)
  }
  expect(await admin.fetchTopicOffsets('by-token')).toMatchObject([{ high: '3' }])
  await admin.disconnect()
  expect(asked.map((form) => Object.fromEntries(form))).toEqual([
    {
      grant_type: 'client_credentials',
      client_id: 'sluice',
      client_secret: 'a-client-secret',
      scope: 'kafka',
    },
  ])

  const consumer = kafka.consumer({ groupId: 'by-token' })
  const read: string[] = []
  await consumer.connect()
  await consumer.subscribe({ topic: 'by-token', fromBeginning: true })
  await consumer.run({
    eachMessage: ({ message }) => {
      read.push(String(message.value))
      return Promise.resolve()
    },
  })
  while (read.length < 3) await delay(50)
  await consumer.disconnect()
  expect(read.map((value) => value.split(' ')[0])).toEqual(['zstd', 'gzip', 'none'])
}, 60_000)

test('no token, and a token that the broker does not take, open none', async () => {
  expect(await ask(kafkaOf(withTokens({ KAFKA_OAUTH_CLIENT_SECRET: 'another' })))).toContain('answered 401')
  // The name of a user is what the broker's rights are for; it must not be empty.
  subject = ''
  expect(await ask(kafkaOf(withTokens()))).not.toEqual(expect.any(Array))
})

test('a certificate that is renewed in its file opens the next connection, half a pair does not replace it', async () => {
  const files = { KAFKA_SSL_CERT: 'client.pem', KAFKA_SSL_KEY: 'client.key' }
  const at = (name: string) => join(directory, name)
  await writeFile(at('client.pem'), broker.stranger.cert)
  await writeFile(at('client.key'), broker.stranger.key)
  const kafka = kafkaOf({
    KAFKA_BROKERS: broker.certificates,
    KAFKA_SSL: 'true',
    KAFKA_SSL_CA: broker.authority,
    ...Object.fromEntries(Object.entries(files).map(([name, file]) => [`${name}_FILE`, at(file)])),
  })
  expect(await ask(kafka)).not.toEqual(expect.any(Array))
  await writeFile(at('client.pem'), broker.trusted.cert)
  expect(await ask(kafka)).not.toEqual(expect.any(Array))
  await writeFile(at('client.key'), broker.trusted.key)
  expect(await ask(kafka)).toEqual(expect.any(Array))
  await writeFile(at('client.pem'), 'no certificate')
  expect(await ask(kafka)).toEqual(expect.any(Array))
}, 60_000)

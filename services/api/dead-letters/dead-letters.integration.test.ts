import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Kafka } from 'kafkajs'
import { createKafka } from '#runtime/kafka/create-kafka.ts'
import { createLog } from '#runtime/log.ts'
import { hashedId, idToUuid, newId } from '#schemas/ids.ts'
import { testInfrastructure } from '#tests/support/infrastructure.ts'
import { readLog } from '#tests/support/read-log.ts'
import { startApi, type RunningApi } from '#tests/support/start-api.ts'

const source = 'llm.request.logged'

let api: RunningApi
let kafka: Kafka

beforeAll(async () => {
  api = await startApi()
  const { brokers } = testInfrastructure()
  kafka = createKafka({ KAFKA_BROKERS: brokers }, { clientId: 'test', log: createLog('test', 'silent') })
  const admin = kafka.admin()
  await admin.connect()
  await admin.createTopics({ topics: [{ topic: `${api.topicPrefix}${source}.dlq`, numPartitions: 1 }] })
  await admin.disconnect()
}, 60_000)

afterAll(() => api.stop(), 60_000)

/** A dead letter and its row, as the runtime and the sink leave them. Returns its identifier. */
async function bury(key: string, value: Buffer | null): Promise<string> {
  const producer = kafka.producer()
  await producer.connect()
  const timestampMs = Date.now()
  const [sent] = await producer.send({
    topic: `${api.topicPrefix}${source}.dlq`,
    messages: [
      {
        key,
        value,
        timestamp: String(timestampMs),
        headers: { mine: 'kept', 'sluice-dlq-code': 'UNSTORABLE', 'sluice-dlq-offset': '3' },
      },
    ],
  })
  await producer.disconnect()
  const offset = sent?.baseOffset ?? '0'
  const id = hashedId('deadLetter', timestampMs, [key, offset])
  await api.pool.query(
    `insert into dead_letters (id, cluster, topic, partition, "offset", code, message, record_key, value_bytes, dead_at)
     values ($1, 'c', $2, 0, $3, 'UNSTORABLE', 'no', $4, $5, $6)`,
    [idToUuid(id), source, offset, key, value?.length ?? null, new Date(timestampMs)],
  )
  return id
}

const post = (path: string, body?: unknown) =>
  api.call('POST', `/api/dead-letters/${path}`, {
    operator: true,
    ...(body === undefined ? {} : { body }),
  })

const sourceRecords = async (key: string) =>
  (await readLog(kafka, `${api.topicPrefix}${source}`)).filter((record) => record.key === key)

test('a dead letter is sent again byte for byte and once, however often and by how many it is asked', async () => {
  const key = newId('request')
  const bytes = Buffer.from([0, 1, 2, 255])
  const id = await bury(key, bytes)
  const answers = await Promise.all([post(`${id}/redrive`), post(`${id}/redrive`), post(`${id}/redrive`)])
  expect(answers.map(({ status, json }) => [status, json['status']])).toEqual(
    Array.from({ length: 3 }, () => [200, 'redriven']),
  )
  const records = await sourceRecords(key)
  expect(records.map(({ value, headers }) => [value, headers])).toEqual([
    [bytes, { mine: Buffer.from('kept') }],
  ])
  expect((await post(`${id}/drop`, { reason: 'late' })).json['code']).toBe('DEAD_LETTER_REDRIVEN')
})

test('one without a value, a dropped one and one that Kafka lost are not sent, and each says why', async () => {
  const empty = await bury(newId('request'), null)
  expect((await post(`${empty}/redrive`)).json['code']).toBe('DEAD_LETTER_WITHOUT_VALUE')
  const key = newId('request')
  const dropped = await bury(key, Buffer.from('x'))
  const drop = await post(`${dropped}/drop`, { reason: 'a test' })
  expect([drop.json['status'], drop.json['reason']]).toEqual(['dropped', 'a test'])
  expect((await post(`${dropped}/redrive`)).json['code']).toBe('DEAD_LETTER_DROPPED')
  const lost = await bury(key, Buffer.from('y'))
  await api.pool.query('update dead_letters set "offset" = 4711 where id = $1', [idToUuid(lost)])
  const answer = await post(`${lost}/redrive`)
  expect([answer.status, answer.json['code']]).toEqual([410, 'DEAD_LETTER_GONE'])
  expect((await post(`${newId('deadLetter')}/redrive`)).status).toBe(404)
  expect(await sourceRecords(key)).toEqual([])
})

test('many are sent by filter, oldest first and so many, and listed by what became of them', async () => {
  const keys = [newId('request'), newId('request'), newId('request')]
  const ids: string[] = []
  for (const key of keys) ids.push(await bury(key, Buffer.from(key)))
  expect((await post('redrive', { code: 'OTHER' })).json).toEqual({ redriven: 0, failed: [] })
  expect((await post('redrive', { topic: source, limit: 2 })).json).toEqual({ redriven: 2, failed: [] })
  const open = await api.call('GET', '/api/dead-letters?status=open&code=UNSTORABLE&limit=1', {
    operator: true,
  })
  expect(open.json).toMatchObject({ data: [{ id: ids[2], status: 'open', key: keys[2] }] })
  expect((await post('redrive', {})).json).toEqual({ redriven: 1, failed: [] })
  expect((await Promise.all(keys.map(sourceRecords))).map((records) => records.length)).toEqual([1, 1, 1])
})

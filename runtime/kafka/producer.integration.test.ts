import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { awaitTopics } from '#infra/create-topics.ts'
import { deleteTopics, randomName, testInfrastructure } from '#tests/support/infrastructure.ts'
import { readLog } from '#tests/support/read-log.ts'
import { createLog } from '../log.ts'
import { createMetrics } from '../metrics.ts'
import { createKafka } from './create-kafka.ts'
import { partitionForKey } from './partition-for-key.ts'
import { createProducer } from './producer.ts'
import type { Producer } from './records.ts'

const prefix = randomName('producer')
const log = createLog('producer-test', 'silent')
const kafka = createKafka({ KAFKA_BROKERS: testInfrastructure().brokers }, { clientId: 'producer-test', log })
const maxMessageBytes = 200_000
let topics = 0
let producers: Producer[] = []

async function newTopic(): Promise<string> {
  const topic = `${prefix}.${topics++}`
  const configEntries = [{ name: 'max.message.bytes', value: String(maxMessageBytes) }]
  await admin.createTopics({ topics: [{ topic, numPartitions: 6, configEntries }], waitForLeaders: false })
  await awaitTopics(admin, [{ name: topic, partitions: 6 }])
  return topic
}

function newProducer(options: Partial<Parameters<typeof createProducer>[0]> = {}) {
  const metrics = createMetrics()
  const producer = createProducer({ kafka, log, metrics, ...options })
  producers.push(producer)
  const value = async (name: string) => {
    const metric = await metrics.registry.getSingleMetric(name)?.get()
    return metric?.values.reduce((sum, sample) => sum + sample.value, 0) ?? 0
  }
  return { producer, value }
}

const admin = kafka.admin()
beforeAll(() => admin.connect())
afterEach(async () => {
  await Promise.all(producers.map((producer) => producer.stop()))
  producers = []
})
afterAll(async () => {
  await admin.disconnect()
  await deleteTopics(prefix)
})

describe('the producer', () => {
  test('gathers concurrent sends, uses the partitions of the Java client, keeps the order of a key', async () => {
    const topic = await newTopic()
    const { producer, value } = newProducer()
    const count = 3_000
    await Promise.all(
      Array.from({ length: count }, (_unused, index) =>
        producer.send([{ topic, key: `key ${index % 50}`, value: Buffer.from(String(index)) }]),
      ),
    )
    const written = await readLog(kafka, topic)
    expect(written.map((record) => Number(record.value)).sort((a, b) => a - b)).toEqual(
      Array.from({ length: count }, (_unused, index) => index),
    )
    for (const record of written) expect(record.partition).toBe(partitionForKey(record.key, 6))
    for (let key = 0; key < 50; key++) {
      const values = written
        .filter((record) => record.key === `key ${key}`)
        .map((record) => Number(record.value))
      expect(values).toEqual([...values].sort((a, b) => a - b))
    }
    expect(await value('sluice_producer_batches_total')).toBeLessThan(count / 50)
    expect(await value('sluice_producer_records_total')).toBe(count)
    expect(await value('sluice_producer_buffered_bytes')).toBe(0)
  })

  test('keeps headers as bytes and null values', async () => {
    const topic = await newTopic()
    const { producer } = newProducer()
    const headers = { code: 'UNDECODABLE', raw: Buffer.from([0, 255, 1]) }
    await producer.send([{ topic, key: 'a', value: null, headers }])
    const [record] = await readLog(kafka, topic)
    expect(record).toMatchObject({ key: 'a', value: null })
    expect(record?.headers).toEqual({ code: Buffer.from('UNDECODABLE'), raw: headers.raw })
  })

  test('refuses only the record that its topic does not take', async () => {
    const topic = await newTopic()
    const { producer } = newProducer()
    const ordinary = Array.from({ length: 300 }, (_unused, index) => `key ${index}`)
    const sends = ordinary.map((key) => producer.send([{ topic, key, value: Buffer.from('fits') }]))
    const tooLarge = producer.send([{ topic, key: 'large', value: randomBytes(maxMessageBytes * 2) }])
    const more = ordinary.map((key) => producer.send([{ topic, key, value: Buffer.from('fits too') }]))
    await expect(tooLarge).rejects.toMatchObject({ code: 'RECORD_TOO_LARGE', retry: 'never' })
    await Promise.all([...sends, ...more])
    const written = await readLog(kafka, topic)
    expect(new Set(written.map(({ key }) => key))).toEqual(new Set(ordinary))
    expect(written.filter(({ value }) => value?.toString() === 'fits too').length).toBeGreaterThanOrEqual(300)
  })

  test('sends records that are large together apart', async () => {
    const topic = await newTopic()
    const { producer } = newProducer()
    const records = Array.from({ length: 30 }, () => ({ topic, key: 'same', value: randomBytes(60_000) }))
    await producer.send(records)
    const written = await readLog(kafka, topic)
    const first = records.map(({ value }) =>
      written.findIndex((record) => record.value?.equals(value) === true),
    )
    expect(first).toEqual([...first].sort((a, b) => a - b))
    expect(first).not.toContain(-1)
  })

  test('refuses records for a topic that is not there, and sends their neighbours', async () => {
    const topic = await newTopic()
    const { producer } = newProducer()
    const value = Buffer.from('value')
    const lost = producer.send([{ topic: `${prefix}.nowhere`, key: 'a', value }])
    const found = producer.send([{ topic, key: 'a', value }])
    await expect(lost).rejects.toMatchObject({ code: 'KAFKA_TOPIC_MISSING', retry: 'later' })
    await found
    expect(await readLog(kafka, topic)).toHaveLength(1)
  })

  test('bounds what waits, and takes records again when it has room', async () => {
    const topic = await newTopic()
    const { producer, value } = newProducer({ maxBufferedBytes: 100_000 })
    const send = (bytes: number) => producer.send([{ topic, key: 'a', value: Buffer.alloc(bytes, 'x') }])
    const first = send(90_000)
    await expect(send(20_000)).rejects.toMatchObject({ code: 'PRODUCER_BUFFER_FULL', retry: 'later' })
    await first
    await send(20_000)
    expect(await value('sluice_producer_failures_total')).toBe(1)
    expect(await value('sluice_producer_buffered_bytes')).toBe(0)
  })

  test('writes what was given to it before stop, and nothing after', async () => {
    const topic = await newTopic()
    const { producer } = newProducer()
    const sends = Array.from({ length: 500 }, (_unused, index) =>
      producer.send([{ topic, key: String(index), value: Buffer.from('v') }]),
    )
    await producer.stop()
    await Promise.all(sends)
    expect(await readLog(kafka, topic)).toHaveLength(500)
    await expect(producer.send([{ topic, key: 'a', value: null }])).rejects.toMatchObject({
      code: 'KAFKA_UNAVAILABLE',
    })
    await producer.stop()
  })
})

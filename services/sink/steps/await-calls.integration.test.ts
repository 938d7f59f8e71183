import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import { awaitTopics } from '#infra/create-topics.ts'
import { createKafka } from '#runtime/kafka/create-kafka.ts'
import { createProducer } from '#runtime/kafka/producer.ts'
import { Interrupted } from '#runtime/kafka/retry-policy.ts'
import { withAdmin } from '#runtime/kafka/with-admin.ts'
import { createLog } from '#runtime/log.ts'
import { createMetrics } from '#runtime/metrics.ts'
import { deleteTopics, randomName, testInfrastructure } from '#tests/support/infrastructure.ts'
import { createCallAwaiting } from './await-calls.ts'

jest.setTimeout(300_000)

const log = createLog('test', 'silent')
const prefix = `${randomName('await')}.`
const [topic, groupId] = [`${prefix}calls`, `${prefix}sink-calls`]
const kafka = createKafka({ KAFKA_BROKERS: testInfrastructure().brokers }, { clientId: 'test', log })
const producer = createProducer({ kafka, log, metrics: createMetrics() })

beforeAll(async () => {
  await withAdmin(kafka, async (admin) => {
    await admin.createTopics({ topics: [{ topic, numPartitions: 1 }], waitForLeaders: false })
    await awaitTopics(admin, [{ name: topic, partitions: 1 }])
  })
  await producer.start()
})
afterAll(async () => {
  await producer.stop()
  await deleteTopics(prefix)
})

const sendCall = () => producer.send([{ topic, key: 'k', value: Buffer.from('a call') }])
/** What a group has handled and what Kafka has no longer are one to it, and this needs no member. */
const passUntil = (offset: string) =>
  withAdmin(kafka, async (admin) => {
    // kafkajs finds a partition's leader only among topics that it has been asked about.
    await admin.fetchTopicOffsets(topic)
    await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset }] })
  })

test('who misses a call waits once, until what was logged by then is stored', async () => {
  await sendCall()
  await sendCall()
  let sleeps = 0
  const clock = {
    now: () => 0,
    async sleep() {
      sleeps++
      // What is logged from now on is not waited for.
      if (sleeps === 1) await sendCall()
      else await passUntil('2')
    },
  }
  const awaitCalls = createCallAwaiting({ kafka, topic, groupId, clock, log })
  await expect(awaitCalls(AbortSignal.abort())).rejects.toBeInstanceOf(Interrupted)
  const { signal } = new AbortController()
  expect(await awaitCalls(signal)).toBe(true)
  expect(sleeps).toBe(2)
  expect(await awaitCalls(signal)).toBe(false)
})

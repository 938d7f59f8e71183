import { afterAll, expect, test } from '@jest/globals'
import { Kafka, logLevel } from 'kafkajs'
import { Client } from 'pg'
import { awaitTopics } from '#infra/create-topics.ts'
import { createTestDatabase, deleteTopics, randomName, testInfrastructure } from './infrastructure.ts'

const prefix = randomName('support')
const kafka = new Kafka({ brokers: testInfrastructure().brokers, logLevel: logLevel.NOTHING })

afterAll(() => deleteTopics(prefix))

test('a topic with a random prefix exists until deleteTopics', async () => {
  const admin = kafka.admin()
  await admin.connect()
  try {
    const topic = `${prefix}.calls`
    await admin.createTopics({ topics: [{ topic, numPartitions: 2 }], waitForLeaders: false })
    await awaitTopics(admin, [{ name: topic, partitions: 2 }])
    expect(await admin.listTopics()).toContain(topic)
    await deleteTopics(prefix)
    expect(await admin.listTopics()).not.toContain(topic)
  } finally {
    await admin.disconnect()
  }
})

test('the registry answers', async () => {
  const answer = await fetch(`${testInfrastructure().registryUrl}/subjects`)
  expect(answer.status).toBe(200)
  expect(Array.isArray(await answer.json())).toBe(true)
})

test('each test database is migrated and separate, and can be dropped while connections are open', async () => {
  const [one, two] = await Promise.all([createTestDatabase(), createTestDatabase()])
  const client = new Client({ connectionString: one.url })
  client.on('error', () => undefined) // the drop ends this connection
  await client.connect()
  const { rows } = await client.query<{ present: boolean }>(
    "select to_regclass('llm_requests') is not null as present",
  )
  expect(rows).toEqual([{ present: true }])
  await client.query('create table mine (id int)')
  const other = new Client({ connectionString: two.url })
  await other.connect()
  await expect(other.query('select from mine')).rejects.toThrow('does not exist')
  await other.end()
  await Promise.all([one.drop(0), two.drop()])
  await expect(client.query('select 1')).rejects.toThrow()
})

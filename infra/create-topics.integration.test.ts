import { COMPATIBILITY, SchemaRegistry } from '@kafkajs/confluent-schema-registry'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import kafkajs from 'kafkajs'
import { kafkaFields } from '#runtime/config.ts'
import { createKafka } from '#runtime/kafka/create-kafka.ts'
import { createLog } from '#runtime/log.ts'
import { avroSchemas, topics, topicsToCreate } from '#schemas/topics.ts'
import { deleteTopics, randomName, testInfrastructure } from '#tests/support/infrastructure.ts'
import { until } from '#tests/support/until.ts'
import { awaitTopics, createTopics, registerSchemas } from './create-topics.ts'
import { freePorts } from './embedded/free-port.ts'

const { brokers, registryUrl } = testInfrastructure()
const log = createLog('create-topics-test', 'silent')
const kafka = createKafka({ KAFKA_BROKERS: brokers }, { clientId: 'create-topics-test', log })
const admin = kafka.admin()
const type = kafkajs.ConfigResourceTypes.TOPIC
const prefixes: string[] = []

function newPrefix(length = 0): string {
  const prefix = `${randomName('topics')}.`.padEnd(length, 'x')
  prefixes.push(prefix)
  return prefix
}

async function configOf(name: string): Promise<Record<string, string>> {
  const { resources } = await admin.describeConfigs({ includeSynonyms: false, resources: [{ type, name }] })
  return Object.fromEntries(
    resources.flatMap(({ configEntries }) =>
      configEntries.map((entry) => [entry.configName, entry.configValue]),
    ),
  )
}

async function partitionsOf(name: string): Promise<number | undefined> {
  const { topics: found } = await admin.fetchTopicMetadata({ topics: [name] })
  return found[0]?.partitions.length
}

beforeAll(() => admin.connect())
afterAll(async () => {
  await admin.disconnect()
  for (const prefix of prefixes) await deleteTopics(prefix)
})

describe('createTopics', () => {
  test('creates every topic of the table with its partitions and configuration; a second run changes nothing', async () => {
    // The longest that TOPIC_PREFIX allows.
    const prefix = newPrefix(200)
    expect(kafkaFields.TOPIC_PREFIX.parse(prefix)).toBe(prefix)
    for (let round = 0; round < 2; round++) {
      await createTopics({ kafka, prefix, replicationFactor: 1, log })
      for (const { name, partitions, config } of topicsToCreate(prefix)) {
        expect(await partitionsOf(name)).toBe(partitions)
        expect(await configOf(name)).toMatchObject({ ...config, 'min.insync.replicas': '1' })
      }
    }
  })

  test('after brokers were added, names topics with one replica, which still accept writes', async () => {
    const prefix = newPrefix()
    await createTopics({ kafka, prefix, replicationFactor: 1, log })
    const names = topicsToCreate(prefix).map(({ name }) => name)
    const name = prefix + topics.requestLogged.name
    const retentionIs = (ms: string) => until(async () => (await configOf(name))['retention.ms'] === ms)
    const configEntries = [{ name: 'retention.ms', value: '1000' }]
    await admin.alterConfigs({ validateOnly: false, resources: [{ type, name, configEntries }] })
    await retentionIs('1000')
    expect(await createTopics({ kafka, prefix, replicationFactor: 3, log })).toEqual(names)
    // One change sets both. If two replicas had to be in sync, nothing could be written.
    await retentionIs(String(topics.requestLogged.retentionMs))
    expect((await configOf(name))['min.insync.replicas']).toBe('1')
  })

  test('updates an older topic to the table, and keeps other settings of operators', async () => {
    const prefix = newPrefix()
    const topic = prefix + topics.requestLogged.name
    const configEntries = [
      { name: 'retention.ms', value: '1000' },
      { name: 'segment.bytes', value: '104857600' },
    ]
    await admin.createTopics({ topics: [{ topic, numPartitions: 2, configEntries }], waitForLeaders: false })
    await awaitTopics(admin, [{ name: topic, partitions: 2 }])
    await createTopics({ kafka, prefix, replicationFactor: 1, log })
    expect(await partitionsOf(topic)).toBe(topics.requestLogged.partitions)
    const expected = {
      'retention.ms': String(topics.requestLogged.retentionMs),
      'max.message.bytes': String(topics.requestLogged.maxMessageBytes),
      'message.timestamp.type': 'LogAppendTime',
      'segment.bytes': '104857600',
    }
    // The controller has applied the change; the broker that answers here follows a moment later.
    await until(async () => (await configOf(topic))['retention.ms'] === expected['retention.ms'])
    expect(await configOf(topic)).toMatchObject(expected)
  })
})

describe('registerSchemas', () => {
  const registry = new SchemaRegistry({ host: registryUrl })
  const breaking = { name: 'more', type: 'string' }
  const harmless = { ...breaking, default: '' }
  const changed = (field: object) => {
    const { fields, ...rest } = avroSchemas.EventRaised as unknown as { fields: object[] }
    return { ...rest, fields: [...fields, field] } as never
  }

  test('registers a subject for each topic; a second run changes nothing', async () => {
    const prefix = newPrefix()
    await registerSchemas({ registryUrl, prefix, log })
    const ids = await idsOf(prefix)
    await registerSchemas({ registryUrl, prefix, log })
    expect(await idsOf(prefix)).toEqual(ids)
    expect(ids).toHaveLength(Object.keys(topics).length)
  })

  test('says that the registry is down, instead of "fetch failed"', async () => {
    const [port] = await freePorts(1)
    const away = registerSchemas({ registryUrl: `http://127.0.0.1:${port}`, prefix: newPrefix(), log })
    await expect(away).rejects.toMatchObject({
      code: 'REGISTRY_UNAVAILABLE',
      message: expect.stringMatching(
        /^the schema registry at http:\/\/127\.0\.0\.1:\d+ does not answer: .*ECONNREFUSED/,
      ),
    })
  })

  test('restores the level that readers rely on, and names an incompatible subject', async () => {
    const prefix = newPrefix()
    const subject = `${prefix}${topics.eventRaised.name}-value`
    const config = `${registryUrl}/config/${subject}`
    const put = { method: 'PUT', headers: { 'content-type': 'application/json' } }
    await registerSchemas({ registryUrl, prefix, log })
    await fetch(config, { ...put, body: JSON.stringify({ compatibility: COMPATIBILITY.NONE }) })
    await registerSchemas({ registryUrl, prefix, log })
    expect(await (await fetch(config)).json()).toEqual({ compatibilityLevel: 'BACKWARD_TRANSITIVE' })

    await fetch(`${registryUrl}/subjects/${subject}`, { method: 'DELETE' })
    const theirs = { type: 'record', name: 'Other', fields: [{ name: 'theirs', type: 'long' }] }
    const { BACKWARD_TRANSITIVE: compatibility } = COMPATIBILITY
    await registry.register(theirs as never, { subject, compatibility })
    const refusal = registerSchemas({ registryUrl, prefix, log })
    await expect(refusal).rejects.toThrow(`the registry does not take the schema of ${subject}`)
  })

  test('makes the registry refuse a change that breaks readers, and accept one that does not', async () => {
    const prefix = newPrefix()
    await registerSchemas({ registryUrl, prefix, log })
    const options = {
      subject: `${prefix}${topics.eventRaised.name}-value`,
      compatibility: COMPATIBILITY.BACKWARD_TRANSITIVE,
    }
    await expect(registry.register(changed(breaking), options)).rejects.toMatchObject({ status: 409 })
    await expect(registry.register(changed(harmless), options)).resolves.toMatchObject({})
  })

  async function idsOf(prefix: string): Promise<number[]> {
    const subjects = Object.values(topics).map(({ name }) => `${prefix}${name}-value`)
    return Promise.all(subjects.map((subject) => registry.getLatestSchemaId(subject)))
  }
})

import type { Kafka } from 'kafkajs'
import pg from 'pg'
import { createTopics, registerSchemas } from '#infra/create-topics.ts'
import { createKafka } from '#runtime/kafka/create-kafka.ts'
import { createProducer } from '#runtime/kafka/producer.ts'
import type { OutgoingRecord } from '#runtime/kafka/records.ts'
import { createRegistryCodec, type Codec } from '#runtime/kafka/registry-codec.ts'
import { createLog } from '#runtime/log.ts'
import { createMetrics } from '#runtime/metrics.ts'
import { avroSchemas, type SchemaName, type TopicDefinition, type TopicValues } from '#schemas/topics.ts'
import { withFewerPartitions } from './fewer-partitions.ts'
import { createTestDatabase, deleteTopics, randomName, testInfrastructure } from './infrastructure.ts'
import { startWithUndo, type Undo } from './undo.ts'

export const silentLog = createLog('test', 'silent')

/** Topics, schemas and a database with unique names on the shared Kafka, registry and Postgres. */
export interface ServiceFixture {
  kafka: Kafka
  pool: pg.Pool
  prefix: string
  /** Addresses and TOPIC_PREFIX, as services read them. */
  environment: Readonly<
    Record<'KAFKA_BROKERS' | 'SCHEMA_REGISTRY_URL' | 'DATABASE_URL' | 'TOPIC_PREFIX', string>
  >
  codecOf: <S extends SchemaName>(topic: TopicDefinition<S>) => Codec<TopicValues[S]>
  send: (records: readonly OutgoingRecord[]) => Promise<void>
  /** Encodes and sends values to a topic. */
  sendAs: <S extends SchemaName>(
    topic: TopicDefinition<S>,
    values: readonly TopicValues[S][],
    keyOf: (value: TopicValues[S]) => string,
  ) => Promise<void>
  close: () => Promise<void>
}

/** Parts that a test may break, instead of the shared ones. The database must be migrated. */
export interface OwnParts {
  brokers: readonly string[]
  databaseUrl: string
}

export async function startServiceFixture(name: string, own?: OwnParts): Promise<ServiceFixture> {
  const { stop, ...fixture } = await startWithUndo((undo) => start(name, own, undo))
  return { ...fixture, close: stop }
}

async function start(
  name: string,
  own: OwnParts | undefined,
  undo: Undo,
): Promise<Omit<ServiceFixture, 'close'>> {
  const { registryUrl, ...shared } = testInfrastructure()
  const brokers = [...(own?.brokers ?? shared.brokers)]
  const prefix = `${randomName(name)}.`
  const kafka = createKafka({ KAFKA_BROKERS: brokers }, { clientId: `${name}-test`, log: silentLog })
  if (own === undefined) undo.push(() => deleteTopics(prefix))
  const databaseUrl = own?.databaseUrl ?? (await createDatabase(undo))
  await createTopics({ kafka, prefix, replicationFactor: 1, settings: withFewerPartitions(), log: silentLog })
  await registerSchemas({ registryUrl, prefix, log: silentLog })
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 4 })
  undo.push(() => pool.end())
  // A killed Postgres breaks idle connections. The next query gets a new one or the error.
  pool.on('error', () => undefined)
  const producer = createProducer({ kafka, log: silentLog, metrics: createMetrics() })
  undo.push(() => producer.stop())
  await producer.start()
  const codecOf = createCodecs(registryUrl, prefix)
  return {
    kafka,
    pool,
    prefix,
    environment: {
      KAFKA_BROKERS: brokers.join(','),
      SCHEMA_REGISTRY_URL: registryUrl,
      DATABASE_URL: databaseUrl,
      TOPIC_PREFIX: prefix,
    },
    codecOf,
    send: (records) => producer.send(records),
    async sendAs(topic, values, keyOf) {
      const codec = codecOf(topic)
      const encoded = await Promise.all(values.map((value) => codec.encode(value)))
      await producer.send(
        values.map((value, index) => ({
          topic: prefix + topic.name,
          key: keyOf(value),
          value: encoded[index] ?? null,
        })),
      )
    },
  }
}

async function createDatabase(undo: Undo): Promise<string> {
  const database = await createTestDatabase()
  undo.push(() => database.drop())
  return database.url
}

function createCodecs(registryUrl: string, prefix: string): ServiceFixture['codecOf'] {
  const registry = createRegistryCodec({ url: registryUrl, log: silentLog })
  const codecs = new Map<string, Codec<never>>()
  return <S extends SchemaName>(topic: TopicDefinition<S>): Codec<TopicValues[S]> => {
    const subject = `${prefix}${topic.name}-value`
    const codec = codecs.get(subject) ?? registry.codec({ subject, schema: avroSchemas[topic.schema] })
    codecs.set(subject, codec)
    return codec
  }
}

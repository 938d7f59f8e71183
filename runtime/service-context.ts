import type { Kafka } from 'kafkajs'
import type { Pool } from 'pg'
import type { GroupConfig, KafkaConfig, PostgresConfig } from './config.ts'
import { messageOf } from './errors.ts'
import { groupSettingsOf, type GroupSettings } from './kafka/assignment.ts'
import { createKafka } from './kafka/create-kafka.ts'
import { createProducer, type ProducerOptions } from './kafka/producer.ts'
import { createRegistryCodec, type Codec, type RegistryCodec } from './kafka/registry-codec.ts'
import { createPool, type PoolDependencies } from './postgres.ts'
import type { ProcessDependencies } from './run-process.ts'
import type { Part } from './run-together.ts'

/** A topic of the table in schemas/, and the name of its Avro record. */
interface Topic<S> {
  readonly name: string
  readonly schema: S
}

/** Access to Kafka and the registry. `Values`: record types by the name of their Avro record. */
export interface KafkaContext<Values> {
  kafka: Kafka
  producer: ReturnType<typeof createProducer>
  registry: RegistryCodec
  /** The topic's name on the cluster. */
  nameOf: (topic: Topic<unknown>) => string
  /** The codec of a topic; one per topic is made. */
  codecOf: <S extends keyof Values>(topic: Topic<S>) => Codec<Values[S]>
  /**
   * Loads the ids of the schemas that the service writes, so that it can write while the registry is away.
   */
  prepareCodecs: () => Promise<void>
}

interface KafkaOptions<Values> {
  /** The client's name in Kafka and in pg_stat_activity. */
  name: string
  avroSchemas: Readonly<Record<keyof Values, object>>
  writes: readonly Topic<keyof Values>[]
  producer?: Pick<ProducerOptions, 'maxBufferedBytes' | 'sendTimeoutMs'>
}

type RegistryConfig = Readonly<Record<'SCHEMA_REGISTRY_URL', string>>

/** Does not connect yet. */
export function createKafkaContext<Values>(
  config: KafkaConfig & RegistryConfig,
  dependencies: ProcessDependencies,
  options: KafkaOptions<Values>,
): KafkaContext<Values> {
  const { log } = dependencies
  const kafka = createKafka(config, { clientId: options.name, log })
  const registry = createRegistryCodec({ url: config.SCHEMA_REGISTRY_URL, log })
  const nameOf = (topic: Topic<unknown>) => config.TOPIC_PREFIX + topic.name
  const codecOf = createCodecs(registry, nameOf, options.avroSchemas)
  return {
    kafka,
    producer: createProducer({
      ...dependencies,
      kafka,
      maxRecordBytes: config.KAFKA_MAX_RECORD_BYTES,
      compression: config.KAFKA_COMPRESSION,
      ...options.producer,
    }),
    registry,
    nameOf,
    codecOf,
    prepareCodecs: async () => {
      try {
        await Promise.all(options.writes.map((topic) => codecOf(topic).prepare()))
      } catch (error) {
        const reason = messageOf(error)
        log.warn({ reason }, 'the schema registry did not answer; what is written waits for it')
      }
    },
  }
}

function createCodecs<Values>(
  registry: RegistryCodec,
  nameOf: (topic: Topic<unknown>) => string,
  avroSchemas: KafkaOptions<Values>['avroSchemas'],
): KafkaContext<Values>['codecOf'] {
  const codecs = new Map<string, Codec<unknown>>()
  return <S extends keyof Values>(topic: Topic<S>) => {
    const known = codecs.get(topic.name)
    if (known !== undefined) return known as Codec<Values[S]>
    const subject = `${nameOf(topic)}-value`
    const codec = registry.codec<Values[S]>({ subject, schema: avroSchemas[topic.schema] })
    codecs.set(topic.name, codec)
    return codec
  }
}

/** Shared dependencies of a consumer service's parts. */
export interface ServiceContext<Config, Values> extends KafkaContext<Values>, ProcessDependencies {
  config: Config
  /** Settings of its consumer groups. */
  group: Partial<GroupSettings>
  pool: Pool
  /** The first parts of the service for `runTogether`: pool, producer, schema ids. */
  connections: readonly Part[]
}

type ConsumerConfig = KafkaConfig & GroupConfig & PostgresConfig & RegistryConfig

/** Does not connect yet. */
export function createServiceContext<Config extends ConsumerConfig, Values>(
  config: Config,
  dependencies: ProcessDependencies,
  options: KafkaOptions<Values> & { pool?: Pick<PoolDependencies, 'readsByKey'> },
): ServiceContext<Config, Values> {
  const kafka = createKafkaContext(config, dependencies, options)
  const pool = createPool(config, { ...dependencies, applicationName: options.name, ...options.pool })
  const pooled: Part = { start: () => Promise.resolve(), stop: () => pool.end() }
  const prepared: Part = { start: kafka.prepareCodecs, stop: () => Promise.resolve() }
  return {
    ...dependencies,
    ...kafka,
    config,
    group: groupSettingsOf(config),
    pool,
    connections: [pooled, kafka.producer, prepared],
  }
}

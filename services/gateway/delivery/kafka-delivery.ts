import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createPriceTable } from '#capture/price-table.ts'
import { parsePrices } from '#capture/record/parse-prices.ts'
import type { KafkaConfig } from '#runtime/config.ts'
import { createKafka } from '#runtime/kafka/create-kafka.ts'
import { createProducer } from '#runtime/kafka/producer.ts'
import { createRegistryCodec } from '#runtime/kafka/registry-codec.ts'
import type { ProcessDependencies } from '#runtime/run-process.ts'
import { createSealer, warnWithoutKeys } from '#runtime/sealing.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import { avroSchemas, topics, type TopicDefinition } from '#schemas/topics.ts'
import type { GatewayConfig } from '../config.ts'
import type { FindProject } from '../projects/project-directory.ts'
import type { PostRecords } from './post-records.ts'
import { createPublishRecords, type CallTopic } from './publish-records.ts'

/** What GATEWAY_DELIVERY=kafka adds to a gateway. */
export interface KafkaDelivery {
  publish: PostRecords
  stop(): Promise<void>
}

const listFile = join(import.meta.dirname, '..', '..', '..', 'infra', 'prices.json')

/** Wiring only. Throws on an invalid price list. */
export function createKafkaDelivery(
  config: GatewayConfig,
  { findProject, post }: { findProject: FindProject; post: PostRecords },
  { log, metrics, clock }: ProcessDependencies,
): KafkaDelivery {
  warnWithoutKeys(config.BODY_ENCRYPTION_KEYS, log)
  const cluster: KafkaConfig = { ...config, KAFKA_BROKERS: config.KAFKA_BROKERS ?? [] }
  const producer = createProducer({
    kafka: createKafka(cluster, { clientId: 'gateway', log }),
    log,
    metrics,
    clock,
    maxRecordBytes: config.KAFKA_MAX_RECORD_BYTES,
  })
  const registry = createRegistryCodec({ url: config.SCHEMA_REGISTRY_URL ?? '', log })
  const callTopic = ({ name, schema }: TopicDefinition<'LlmRequestLogged'>): CallTopic => {
    const topic = config.TOPIC_PREFIX + name
    const codec = registry.codec<LoggedCall>({ subject: `${topic}-value`, schema: avroSchemas[schema] })
    return { name: topic, encoder: codec }
  }
  return {
    publish: createPublishRecords({
      producer,
      sealer: createSealer(config.BODY_ENCRYPTION_KEYS),
      logged: callTopic(topics.requestLogged),
      ephemeral: callTopic(topics.requestEphemeral),
      prices: createPriceTable(
        [listFile, config.PRICES_FILE].flatMap((file) =>
          file === undefined ? [] : parsePrices(readFileSync(file, 'utf8'), file),
        ),
      ),
      findProject,
      post,
      now: () => clock.now(),
    }),
    stop: () => producer.stop(),
  }
}

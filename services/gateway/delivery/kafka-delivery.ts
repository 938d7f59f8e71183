import { createSignCall } from '#capture/search/search-signature.ts'
import type { ProcessDependencies } from '#runtime/run-process.ts'
import { createSealer, warnWithoutKeys } from '#runtime/sealing.ts'
import { createKafkaContext } from '#runtime/service-context.ts'
import { services } from '#schemas/services.ts'
import { avroSchemas, topics, type TopicDefinition, type TopicValues } from '#schemas/topics.ts'
import type { GatewayConfig } from '../config.ts'
import type { FindProject } from '../projects/project-directory.ts'
import { readPrices } from '../read-prices.ts'
import type { PostRecords } from './post-records.ts'
import { createPublishRecords, type CallTopic } from './publish-records.ts'

/** What GATEWAY_DELIVERY=kafka adds to a gateway. */
export interface KafkaDelivery {
  publish: PostRecords
  stop(): Promise<void>
}

/** Wiring only. Throws on an invalid price list. */
export function createKafkaDelivery(
  config: GatewayConfig,
  { findProject, post }: { findProject: FindProject; post: PostRecords },
  dependencies: ProcessDependencies,
): KafkaDelivery {
  const { log, clock } = dependencies
  warnWithoutKeys(config.BODY_ENCRYPTION_KEYS, log)
  const cluster = {
    ...config,
    KAFKA_BROKERS: config.KAFKA_BROKERS ?? [],
    SCHEMA_REGISTRY_URL: config.SCHEMA_REGISTRY_URL ?? '',
  }
  const { producer, nameOf, codecOf } = createKafkaContext<TopicValues>(cluster, dependencies, {
    name: 'gateway',
    avroSchemas,
    writes: services.gateway.kafka.writes,
  })
  const callTopic = (topic: TopicDefinition<'LlmRequestLogged'>): CallTopic => ({
    name: nameOf(topic),
    encoder: codecOf(topic),
  })
  return {
    publish: createPublishRecords({
      producer,
      sealer: createSealer(config.BODY_ENCRYPTION_KEYS),
      sign: createSignCall(config.SEARCH_KEY),
      logged: callTopic(topics.requestLogged),
      ephemeral: callTopic(topics.requestEphemeral),
      prices: readPrices(config),
      findProject,
      post,
      now: () => clock.now(),
    }),
    stop: () => producer.stop(),
  }
}

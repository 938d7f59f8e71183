import type { Encoder, Producer } from '#runtime/kafka/records.ts'
import { topics } from '#schemas/topics.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'
import type { EventTraces } from '../event-traces.ts'
import type { DeliveryTopic, PlannedDelivery } from '../steps/plan-next.ts'

export interface DeliveryPublisher {
  /** Resolves once Kafka has every one. Throws as the producer and the encoder do. */
  publish(planned: readonly PlannedDelivery[]): Promise<void>
}

export function createDeliveryPublisher(dependencies: {
  producer: Producer
  encoderOf: (topic: DeliveryTopic) => Encoder<WebhookDelivery>
  topicPrefix: string
  eventTraces?: EventTraces | undefined
}): DeliveryPublisher {
  const { producer, encoderOf, topicPrefix, eventTraces } = dependencies
  return {
    async publish(planned) {
      if (planned.length === 0) return
      const records = planned.map(async ({ topic, delivery }) => ({
        topic: topicPrefix + topics[topic].name,
        key: delivery.webhook_id,
        value: await encoderOf(topic).encode(delivery),
        trace: eventTraces?.get(delivery.event),
      }))
      await producer.send(await Promise.all(records))
    },
  }
}

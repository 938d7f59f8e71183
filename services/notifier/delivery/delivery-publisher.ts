import type { Encoder, Producer } from '#runtime/kafka/records.ts'
import { topics } from '#schemas/topics.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'
import type { DeliveryTopic } from '../steps/plan-next.ts'

export interface PlacedDelivery {
  topic: DeliveryTopic
  delivery: WebhookDelivery
}

export interface DeliveryPublisher {
  /** Resolves once every one stands in its topic. Throws as the producer and the encoder do. */
  publish(placed: readonly PlacedDelivery[]): Promise<void>
}

export interface PublisherDependencies {
  producer: Producer
  encoderOf: (topic: DeliveryTopic) => Encoder<WebhookDelivery>
  topicPrefix: string
}

export function createDeliveryPublisher(dependencies: PublisherDependencies): DeliveryPublisher {
  const { producer, encoderOf, topicPrefix } = dependencies
  return {
    async publish(placed) {
      if (placed.length === 0) return
      const records = placed.map(async ({ topic, delivery }) => ({
        topic: topicPrefix + topics[topic].name,
        key: delivery.webhook_id,
        value: await encoderOf(topic).encode(delivery),
      }))
      await producer.send(await Promise.all(records))
    },
  }
}

import type { Kafka } from 'kafkajs'
import { TransientError } from '#runtime/errors.ts'
import type { OutgoingRecord, Producer } from '#runtime/kafka/records.ts'
import type { Cluster } from './cluster.ts'
import { protocolError } from './group.ts'
import { SimConsumer, type SimConsumerOptions } from './sim-consumer.ts'

/** The part of a kafkajs client that our runtime uses, on the simulated cluster. */
export function createSimKafka(cluster: Cluster): Kafka {
  const ask = <T>(effect: () => T): Promise<T> =>
    cluster.world.request({
      target: 'kafka',
      effect,
      failure: () => protocolError('REQUEST_TIMED_OUT'),
      isRisky: false,
    })
  const admin = {
    connect: () => ask(() => undefined),
    disconnect: () => Promise.resolve(),
    describeCluster: () => ask(() => ({ clusterId: cluster.id })),
    // Topics are created on first use.
    listTopics: () => ask(() => []),
    fetchTopicMetadata: () => ask(() => ({ topics: [] })),
    fetchTopicOffsets: (topic: string) =>
      ask(() =>
        cluster.logsOf(topic).map(({ length }, partition) => ({ partition, low: '0', high: String(length) })),
      ),
    describeGroups: (ids: string[]) => ask(() => ({ groups: ids.map((id) => cluster.group(id).describe()) })),
    fetchOffsets: ({ groupId, topics }: { groupId: string; topics: string[] }) =>
      ask(() =>
        topics.map((topic) => ({
          topic,
          partitions: cluster.logsOf(topic).map((_log, partition) => {
            const committed = cluster.group(groupId).committed({ topic, partition })
            return {
              partition,
              offset: committed?.offset.toString() ?? '-1',
              metadata: committed?.metadata ?? null,
            }
          }),
        })),
      ),
  }
  const client = {
    admin: () => admin,
    consumer: (options: SimConsumerOptions) => new SimConsumer(cluster, options),
  }
  return client as unknown as Kafka
}

/**
 * A producer with the guarantees of ours (runtime/kafka/producer.ts, tested against real brokers). `send`
 * resolves when everything is written. Each partition is a separate request, so some may be written when it
 * rejects, and a record may be written twice.
 */
export function createSimProducer(cluster: Cluster): Producer {
  const { world } = cluster
  const failure = () => new TransientError('KAFKA_UNAVAILABLE', 'no broker has acknowledged the records')
  const write = (records: readonly OutgoingRecord[]) => {
    for (const record of records) cluster.append(record)
    const isRepeated = !world.faults.isOver && world.random.chance(world.faults.rates.repeating)
    if (isRepeated) for (const record of records) cluster.append(record)
  }
  return {
    start: () => Promise.resolve(),
    stop: () => Promise.resolve(),
    async send(records) {
      const byPartition = Map.groupBy(records, ({ topic, key }) => `${topic}/${cluster.partitionFor(key)}`)
      const requests = [...byPartition.values()].map((group) =>
        world.request({ target: 'kafka', effect: () => write(group), failure }),
      )
      const outcomes = await Promise.allSettled(requests)
      const failed = outcomes.find((outcome) => outcome.status === 'rejected')
      if (failed) throw failed.reason
    },
  }
}

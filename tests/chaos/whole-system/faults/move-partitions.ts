import { withAdmin } from '#runtime/kafka/with-admin.ts'
import { topics } from '#schemas/topics.ts'
import { brokerNumbers } from '../fixture/roster.ts'
import type { Fixture } from '../fixture/start-fixture.ts'
import { awaitInSync } from './await-recovery.ts'
import type { Fault } from './fault.ts'

const everywhere = brokerNumbers.map(Number)

/** Moves all partitions away from a broker, so that others lead them; then moves them back. */
export const moveLeaders: Fault = {
  kind: 'move-leaders',
  targets: brokerNumbers,
  lastsMs: [3_000, 10_000],
  holds: () => ['brokers'],
  begin: async (fixture, target) => {
    await placePartitions(
      fixture,
      everywhere.filter((number) => String(number) !== target),
    )
    return async () => {
      await placePartitions(fixture, everywhere)
      await awaitInSync(fixture)
    }
  },
}

async function placePartitions({ kafka, topicPrefix }: Fixture, brokers: number[]): Promise<void> {
  await withAdmin(kafka, async (admin) => {
    const { topics: all } = await admin.fetchTopicMetadata()
    const ours = all.filter(({ name }) => name.startsWith(topicPrefix))
    await admin.alterPartitionReassignments({
      topics: ours.map(({ name, partitions }) => ({
        topic: name,
        partitionAssignment: partitions.map(({ partitionId }) => ({
          partition: partitionId,
          // Rotated, so that the leaders are spread over brokers.
          replicas: brokers.map((_, index) => brokers[(index + partitionId) % brokers.length] as number),
        })),
      })),
    })
  })
}

/** Adds a partition to a topic: keys move to other partitions. Cannot be undone. */
export const addPartition: Fault = {
  kind: 'add-partition',
  targets: [
    topics.requestLogged,
    topics.scoreJobs,
    topics.scoreRecorded,
    topics.eventRaised,
    topics.deliveryDue,
  ].map(({ name }) => name),
  lastsMs: [0, 0],
  atMost: 3,
  holds: () => ['brokers'],
  begin: async (fixture, target) => {
    const topic = fixture.topicPrefix + target
    await withAdmin(fixture.kafka, async (admin) => {
      const { topics: found } = await admin.fetchTopicMetadata({ topics: [topic] })
      await admin.createPartitions({
        topicPartitions: [{ topic, count: (found[0]?.partitions.length ?? 0) + 1 }],
      })
    })
    return () => awaitInSync(fixture)
  },
}

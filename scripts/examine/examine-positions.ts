import { withAdmin } from '#runtime/kafka/with-admin.ts'
import { topics } from '#schemas/topics.ts'
import { readPositions } from '../rewinding/read-positions.ts'
import { connectDoctor } from './connect-doctor.ts'
import type { System } from './find-system.ts'
import { ok, warning, type Finding } from './finding.ts'

/**
 * Whether the tables have what the sinks reported to Kafka as stored. After a restore, or a fail-over to a
 * lagging standby, they do not. Detectable until the sinks store the partition's next call.
 */
export async function examinePositions({ kafka, config }: System): Promise<Finding[]> {
  const names = [topics.requestLogged, topics.requestEphemeral].map(({ name }) => config.TOPIC_PREFIX + name)
  // Before the positions, which move first: a call stored meanwhile must not look lost.
  const [clusterId, committed] = await withAdmin(kafka, async (admin) => [
    (await admin.describeCluster()).clusterId,
    await admin.fetchOffsets({ groupId: `${config.TOPIC_PREFIX}sink-calls`, topics: names }),
  ])
  const stored = await positionsOf(config, clusterId)
  const behind = committed.flatMap(({ topic, partitions }) =>
    partitions.flatMap(({ partition, offset }) => {
      const missing = BigInt(offset) - (stored.get(`${topic}/${partition}`) ?? 0n)
      return missing > 0n
        ? [`${missing} of ${topic.slice(config.TOPIC_PREFIX.length)} partition ${partition}`]
        : []
    }),
  )
  if (behind.length === 0) return [ok('positions', 'the tables have what the sinks committed')]
  return [
    warning(
      'positions',
      `records that the sinks committed and the tables do not know: ${behind.join(', ')}`,
      'after a fail-over or a restore: stop the sinks, scripts/rewind --apply (docs/backup.md). Otherwise they could not be read: see the dead letters',
    ),
  ]
}

async function positionsOf(config: System['config'], clusterId: string): Promise<Map<string, bigint>> {
  const client = await connectDoctor(config)
  try {
    return await readPositions(client, clusterId)
  } finally {
    await client.end()
  }
}

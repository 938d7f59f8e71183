import type { Admin, PartitionMetadata } from 'kafkajs'
import kafkajs from 'kafkajs'
import { isWithoutLeader, readTopics } from '#runtime/kafka/read-topics.ts'
import { fetchRegistry } from '#runtime/kafka/registry-address.ts'
import { withAdmin } from '#runtime/kafka/with-admin.ts'
import { messageOf } from '#runtime/errors.ts'
import type { JobContext } from './upkeep-job.ts'

export interface ClusterWatchDependencies extends Pick<JobContext, 'kafka' | 'pool' | 'log' | 'metrics'> {
  registryUrl: string
  /** Full names of the topics to watch. */
  topicNames: readonly string[]
}

const registryTimeoutMs = 5_000

/**
 * Measures whether topics' replicas are in sync, and whether Kafka, Postgres and the registry answer. Brokers
 * report this by JMX, which needs an agent in each. Never fails: no answer is a figure too.
 */
export function createClusterWatch(dependencies: ClusterWatchDependencies): () => Promise<boolean> {
  const { kafka, pool, registryUrl, topicNames, log, metrics } = dependencies
  const up = metrics.gauge('sluice_dependency_up', 'Whether it answered when it was last asked: 1 or 0.', [
    'dependency',
  ])
  const byTopic = (name: string, help: string) =>
    metrics.gauge(`sluice_cluster_${name}_partitions`, help, ['topic'])
  const lagging = byTopic('under_replicated', 'Partitions with a replica that is not in sync.')
  const refusing = byTopic('under_min_isr', 'Partitions that take no writes: too few replicas are in sync.')
  const offline = byTopic('offline', '1: at least one partition has no leader.')

  const probe = async (dependency: string, work: () => Promise<unknown>) => {
    try {
      await work()
      up.set({ dependency }, 1)
    } catch (error) {
      up.set({ dependency }, 0)
      log.warn({ dependency, reason: messageOf(error) }, 'dependency does not answer')
    }
  }
  const missing = metrics.gauge('sluice_cluster_missing_topics', 'Topics that Kafka does not show.')
  const measureTopic = (topic: string, partitions: readonly PartitionMetadata[] | null, minimum: number) => {
    // Kafka gives no partitions of the topic while one has no leader.
    offline.set({ topic }, partitions === null ? 1 : 0)
    if (partitions === null) return
    const count = (is: (partition: PartitionMetadata) => boolean) => partitions.filter(is).length
    lagging.set(
      { topic },
      count(({ isr, replicas }) => isr.length < replicas.length),
    )
    refusing.set(
      { topic },
      count(({ isr }) => isr.length < minimum),
    )
  }
  let minimums: ReadonlyMap<string, number> = new Map()
  const measureTopics = async (admin: Admin) => {
    const shown = await readTopics(admin, topicNames)
    missing.set(topicNames.length - shown.size)
    // They hardly ever change: while kafkajs cannot read them, the last round's serve.
    minimums = await readMinimums(admin, [...shown.keys()]).catch((error: unknown) => {
      if (!isWithoutLeader(error)) throw error
      return minimums
    })
    for (const [topic, partitions] of shown) measureTopic(topic, partitions, minimums.get(topic) ?? 1)
  }
  return async () => {
    await Promise.all([
      probe('kafka', () => withAdmin(kafka, measureTopics)),
      probe('postgres', () => pool.query('select 1')),
      probe('registry', async () => {
        const signal = AbortSignal.timeout(registryTimeoutMs)
        const response = await fetchRegistry(registryUrl, '/subjects', { signal })
        await response.arrayBuffer()
        if (!response.ok) throw new Error(`it answered ${response.status}`)
      }),
    ])
    return false
  }
}

/** `min.insync.replicas` of each topic. */
async function readMinimums(
  admin: Admin,
  topicNames: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  if (topicNames.length === 0) return new Map()
  const type = kafkajs.ConfigResourceTypes.TOPIC
  const configNames = ['min.insync.replicas']
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: topicNames.map((name) => ({ type, name, configNames })),
  })
  return new Map(
    resources.map(({ resourceName, configEntries }) => [
      resourceName,
      Number(configEntries[0]?.configValue ?? 1),
    ]),
  )
}

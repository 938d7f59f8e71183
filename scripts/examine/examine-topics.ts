import type { Admin, PartitionMetadata } from 'kafkajs'
import { readConfigs } from '#infra/check-topics.ts'
import { whatIsWrong } from '#infra/compare-topic.ts'
import { topicSettingsOf } from '#infra/topic-settings.ts'
import { copiesWith, fewestCopies } from '#infra/topic-copies.ts'
import { isWithoutLeader, readTopics } from '#runtime/kafka/read-topics.ts'
import { withAdmin } from '#runtime/kafka/with-admin.ts'
import { topicsToCreate, type TopicToCreate } from '#schemas/topics.ts'
import type { System } from './find-system.ts'
import { ok, problem, skipped, warning, type Finding } from './finding.ts'

const byMigration = 'scripts/migrate makes it as schemas/topics.ts says'
const byReassignment =
  'raise it with kafka-reassign-partitions.sh, then scripts/migrate, which sets min.insync.replicas by it; docs/operations.md'

/**
 * Whether each topic exists, with its partitions, replicas and configuration, and whether replicas are in
 * sync.
 */
export function examineTopics({ kafka, config }: System): Promise<Finding[]> {
  return withAdmin(kafka, async (admin) => {
    const wanted = topicsToCreate(config.TOPIC_PREFIX, topicSettingsOf(config))
    const found = await readTopics(
      admin,
      wanted.map(({ name }) => name),
    )
    const there = wanted.filter(({ name }) => found.has(name))
    const brokers = await countBrokers(admin)
    const copies = brokers === undefined ? undefined : copiesWith(brokers)
    const configs =
      brokers === undefined ? new Map<string, Record<string, string>>() : await readConfigs(admin, there)
    const wrong = [
      ...wanted
        .filter(({ name }) => !found.has(name))
        .map(({ name }) => problem('topics', `${name} is missing`, byMigration)),
      ...there.flatMap((topic) => {
        const partitions = found.get(topic.name) ?? null
        return [
          ...examineCopies(topic, partitions, copies),
          ...whatIsWrong(topic, partitions, configs.get(topic.name)).map((phrase) =>
            problem('topics', phrase, byMigration),
          ),
        ]
      }),
    ]
    return [
      brokers === undefined ? skipped('kafka', unavailable) : ok('kafka', `${brokers} brokers answer`),
      ...(wrong.length > 0 ? wrong : [ok('topics', `all ${wanted.length} are as schemas/topics.ts says`)]),
    ]
  })
}

const unavailable =
  'while a partition of the cluster has no leader, brokers and configurations cannot be asked for'

/** Undefined if kafkajs cannot tell: it requests all topics of the cluster at the same time. */
async function countBrokers(admin: Admin): Promise<number | undefined> {
  try {
    return (await admin.describeCluster()).brokers.length
  } catch (error) {
    if (!isWithoutLeader(error)) throw error
    return undefined
  }
}

function examineCopies(
  { name }: TopicToCreate,
  found: readonly PartitionMetadata[] | null,
  copies: number | undefined,
): Finding[] {
  if (found === null) {
    const remedy = 'docs/runbooks/SluicePartitionOffline.md'
    return [problem('topics', `${name}: a partition has no leader`, remedy)]
  }
  const fewest = fewestCopies(found)
  const lagging = found.filter(({ isr, replicas }) => isr.length < replicas.length).length
  const out = `${name}: ${lagging} partitions have replicas out of sync`
  return [
    ...(copies !== undefined && fewest < copies
      ? [problem('topics', `${name} is kept ${fewest} times, not ${copies}`, byReassignment)]
      : []),
    ...(lagging > 0 ? [warning('topics', out, 'docs/runbooks/SluiceUnderReplicated.md')] : []),
  ]
}

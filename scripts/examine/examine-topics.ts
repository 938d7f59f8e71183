import kafkajs, { type Admin } from 'kafkajs'
import { withAdmin } from '#runtime/kafka/with-admin.ts'
import { topicsToCreate, type TopicToCreate } from '#schemas/topics.ts'
import type { System } from './find-system.ts'
import { ok, problem, warning, type Finding } from './finding.ts'

const byMigration = 'scripts/migrate makes it as schemas/topics.ts says'
const byReassignment =
  'raise it with kafka-reassign-partitions.sh; scripts/migrate only sets it for new topics'

type Described = Awaited<ReturnType<Admin['fetchTopicMetadata']>>['topics'][number]

/** Whether each topic is there, with its partitions, copies and configuration, and whether copies are in sync. */
export function examineTopics({ kafka, config }: System): Promise<Finding[]> {
  return withAdmin(kafka, async (admin) => {
    const { brokers } = await admin.describeCluster()
    const copies = Math.min(3, brokers.length)
    const wanted = topicsToCreate(config.TOPIC_PREFIX)
    const present = new Set(await admin.listTopics())
    const missing = wanted.filter(({ name }) => !present.has(name))
    const there = wanted.filter(({ name }) => present.has(name))
    const findings = [
      ok('kafka', `${brokers.length} brokers answer`),
      ...missing.map(({ name }) => problem('topics', `${name} is missing`, byMigration)),
      ...(there.length === 0 ? [] : await examinePresent(admin, there, copies)),
    ]
    const wrong = findings.some(({ check }) => check === 'topics')
    return wrong
      ? findings
      : [...findings, ok('topics', `all ${wanted.length} are as schemas/topics.ts says`)]
  })
}

async function examinePresent(
  admin: Admin,
  there: readonly TopicToCreate[],
  copies: number,
): Promise<Finding[]> {
  const { topics } = await admin.fetchTopicMetadata({ topics: there.map(({ name }) => name) })
  const described = new Map(topics.map((topic) => [topic.name, topic]))
  const configs = await readConfigs(admin, there)
  return there.flatMap((topic) => {
    const found = described.get(topic.name)
    const config = { ...topic.config, 'min.insync.replicas': String(Math.max(1, copies - 1)) }
    return [
      ...(found === undefined ? [] : examinePartitions(topic, found, copies)),
      ...examineConfig(topic.name, config, configs.get(topic.name) ?? {}),
    ]
  })
}

function examinePartitions({ name, partitions }: TopicToCreate, found: Described, copies: number): Finding[] {
  const count = (is: (partition: Described['partitions'][number]) => boolean) =>
    found.partitions.filter(is).length
  const fewest = Math.min(...found.partitions.map(({ replicas }) => replicas.length))
  const offline = count(({ leader }) => leader < 0)
  const lagging = count(({ isr, replicas }) => isr.length < replicas.length)
  return [
    ...(found.partitions.length < partitions
      ? [
          problem(
            'topics',
            `${name} has ${found.partitions.length} partitions, not ${partitions}`,
            byMigration,
          ),
        ]
      : []),
    ...(fewest < copies
      ? [problem('topics', `${name} is kept ${fewest} times, not ${copies}`, byReassignment)]
      : []),
    ...(offline > 0
      ? [
          problem(
            'topics',
            `${name}: ${offline} partitions have no leader`,
            'docs/runbooks/SluicePartitionOffline.md',
          ),
        ]
      : []),
    ...(lagging > 0
      ? [
          warning(
            'topics',
            `${name}: ${lagging} partitions have replicas out of sync`,
            'docs/runbooks/SluiceUnderReplicated.md',
          ),
        ]
      : []),
  ]
}

function examineConfig(
  name: string,
  wanted: Readonly<Record<string, string>>,
  found: Readonly<Record<string, string>>,
): Finding[] {
  return Object.entries(wanted)
    .filter(([key, value]) => found[key] !== value)
    .map(([key, value]) =>
      problem('topics', `${name}: ${key} is ${found[key] ?? 'unknown'}, not ${value}`, byMigration),
    )
}

async function readConfigs(
  admin: Admin,
  there: readonly TopicToCreate[],
): Promise<ReadonlyMap<string, Record<string, string>>> {
  const type = kafkajs.ConfigResourceTypes.TOPIC
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: there.map(({ name }) => ({ type, name })),
  })
  return new Map(
    resources.map(({ resourceName, configEntries }) => [
      resourceName,
      Object.fromEntries(configEntries.map(({ configName, configValue }) => [configName, configValue])),
    ]),
  )
}

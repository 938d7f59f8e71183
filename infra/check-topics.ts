import kafkajs, { type Admin, type Kafka } from 'kafkajs'
import { typeOfError } from '#runtime/kafka/protocol-errors.ts'
import { readTopics } from '#runtime/kafka/read-topics.ts'
import { withAdmin } from '#runtime/kafka/with-admin.ts'
import { topicsToCreate, type TopicSettings, type TopicToCreate } from '#schemas/topics.ts'
import { whatIsWrong } from './compare-topic.ts'
import { CannotStart } from './embedded/embedded-part.ts'

/**
 * Problems of topics that someone else creates, one per line; changes nothing. Throws CannotStart if it may
 * not read them.
 */
export function checkTopics(kafka: Kafka, prefix: string, settings: TopicSettings): Promise<string[]> {
  return withAdmin(kafka, async (admin) => {
    const wanted = topicsToCreate(prefix, settings)
    const found = await readTopics(
      admin,
      wanted.map(({ name }) => name),
    )
    const there = wanted.filter(({ name }) => found.has(name))
    const configs = await readConfigs(admin, there).catch(whyUnreadable)
    return wanted.flatMap((topic) => {
      const partitions = found.get(topic.name)
      if (partitions === undefined)
        return [`${topic.name} is missing, or this user may not see it (Describe)`]
      const leaderless = partitions === null ? [`${topic.name}: a partition has no leader`] : []
      return [...leaderless, ...whatIsWrong(topic, partitions, configs.get(topic.name))]
    })
  })
}

function whyUnreadable(error: unknown): never {
  if (typeOfError(error) !== 'TOPIC_AUTHORIZATION_FAILED') throw error
  throw new CannotStart(
    'this Kafka user may not read how topics are configured: give it DescribeConfigs on them (scripts/kafka-acls prints it)',
  )
}

/** Effective configuration by topic, wherever it is set. */
export async function readConfigs(
  admin: Admin,
  there: readonly TopicToCreate[],
): Promise<ReadonlyMap<string, Record<string, string>>> {
  if (there.length === 0) return new Map()
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

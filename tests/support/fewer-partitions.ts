import { defaultTopicSettings, settableTopics, type TopicSettings } from '#schemas/topics.ts'

const deadLetterTopics = [...settableTopics].filter((name) => name.endsWith('.dlq'))

/**
 * One partition for dead-letter topics, which tests seldom use: creating and deleting all topics takes the
 * broker 0.4 instead of 0.7 s of CPU, and every test does.
 */
export function withFewerPartitions(settings: TopicSettings = defaultTopicSettings): TopicSettings {
  const fewer = deadLetterTopics.map((name) => [name, 1] as const)
  return { ...settings, partitions: new Map([...fewer, ...settings.partitions]) }
}

import type { PartitionMetadata } from 'kafkajs'
import { longestRetentionMs, type TopicToCreate } from '#schemas/topics.ts'
import { fewestCopies, inSyncOf } from './topic-copies.ts'

/**
 * Deviations of an existing topic from the required settings, one phrase each. Its owner may have given it
 * more.
 */
export function whatIsWrong(
  topic: TopicToCreate,
  partitions: readonly PartitionMetadata[] | null,
  config: Readonly<Record<string, string>> | undefined,
): string[] {
  const { name } = topic
  const few =
    partitions !== null && partitions.length < topic.partitions
      ? [`${name} has ${partitions.length} partitions, not ${topic.partitions}`]
      : []
  if (config === undefined) return few
  const inSync =
    partitions === null ? [] : [exactly('min.insync.replicas', String(inSyncOf(fewestCopies(partitions))))]
  const needs = [...Object.entries(topic.config).map(([key, value]) => needOf(topic, key, value)), ...inSync]
  return [
    ...few,
    ...needs
      .filter(({ key, isMetBy }) => !isMetBy(config[key] ?? ''))
      .map(({ key, wanted }) => `${name}: ${key} is ${config[key] ?? 'unknown'}, not ${wanted}`),
  ]
}

interface Need {
  key: string
  wanted: string
  isMetBy: (value: string) => boolean
}

function needOf({ isEphemeral }: TopicToCreate, key: string, value: string): Need {
  const number = Number(value)
  switch (key) {
    case 'retention.ms':
      // Erasures report how long Kafka keeps erased data, and ephemeral topics must not keep anything.
      return between(key, isEphemeral ? 1 : number, isEphemeral ? number : longestRetentionMs)
    case 'segment.ms':
      return between(key, 1, number)
    case 'max.message.bytes':
      return between(key, number, Infinity)
    default:
      return exactly(key, value)
  }
}

function exactly(key: string, wanted: string): Need {
  return { key, wanted, isMetBy: (value) => value === wanted }
}

function between(key: string, min: number, max: number): Need {
  const wanted = min === 1 ? `${max} or less` : max === Infinity ? `${min} or more` : `${min} to ${max}`
  return { key, wanted, isMetBy: (value) => Number(value) >= min && Number(value) <= max }
}

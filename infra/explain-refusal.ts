import type { TopicToCreate } from '#schemas/topics.ts'
import type { Refusal } from './hear-refusals.ts'

/**
 * What is asked of a topic: settings by their names, and how the broker's sentences call partitions and
 * copies.
 */
export type Asked = Readonly<Record<string, string>>

/** What was asked for when a topic was to be made. */
export function askedOf({ partitions, config }: TopicToCreate, copies?: number): Asked {
  return {
    partitions: String(partitions),
    ...(copies === undefined ? {} : { 'replication factor': String(copies) }),
    ...config,
  }
}

const variables: Readonly<Record<string, string>> = {
  partitions: 'KAFKA_TOPIC_PARTITIONS',
  'retention.ms': 'KAFKA_TOPIC_RETENTION_MS',
  'max.message.bytes': 'KAFKA_MAX_RECORD_BYTES',
}

const byOthers =
  'have the topics made by whoever may (docs/topics.md), then run scripts/migrate --check-topics-only'

/**
 * One sentence: the topic, the setting, what was asked for, what is allowed as far as Kafka says, and what to
 * do.
 */
export function explainRefusal(refused: readonly Refusal[], askedFor: ReadonlyMap<string, Asked>): string {
  const [first] = refused
  if (first === undefined) return 'Kafka refuses a topic'
  const { topic, type, said } = first
  const asked = askedFor.get(topic) ?? {}
  const isAccess = type.endsWith('_AUTHORIZATION_FAILED')
  const named = settingsIn(said, type, asked)
  const what = isAccess ? '' : `, for which was asked: ${listOf(asked, named)}`
  const words = said === '' || said === 'null' ? '' : `; Kafka says: ${said.trim().replace(/\.$/, '')}`
  const others = refused.length === 1 ? '' : `; ${refused.length - 1} other topics are refused too`
  return `Kafka refuses topic ${topic} (${type})${what}${words}${others}: ${remedyOf(isAccess, named)}`
}

/** The settings that the refusal is about; none: it does not say. */
function settingsIn(said: string, type: string, asked: Asked): string[] {
  const text = `${said} ${type}`.toLowerCase().replaceAll('_', ' ')
  return Object.keys(asked).filter((name) => text.includes(name))
}

function listOf(asked: Asked, named: readonly string[]): string {
  const shown = Object.entries(asked).filter(([name]) => named.length === 0 || named.includes(name))
  return shown.map(([name, value]) => `${name} ${value}`).join(', ')
}

function remedyOf(isAccess: boolean, named: readonly string[]): string {
  if (isAccess) return `give this user the rights that scripts/kafka-acls prints, or ${byOthers}`
  const set = named.flatMap((name) => variables[name] ?? [])
  return set.length === 0 ? byOthers : `set ${set.join(' and ')}, or ${byOthers}`
}

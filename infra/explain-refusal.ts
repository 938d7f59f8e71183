import type { TopicToCreate } from '#schemas/topics.ts'
import type { Refusal } from './hear-refusals.ts'

/**
 * Requested settings of a topic by name, with the names that broker messages use for partitions and replicas.
 */
export type Asked = Readonly<Record<string, string>>

/** The request for a new topic. */
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

/** One sentence: topic, setting, requested value, allowed value if Kafka says, and what to do. */
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

/** Settings that the refusal is about; empty if it does not say. */
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

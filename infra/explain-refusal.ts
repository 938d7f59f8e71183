import type { TopicToCreate } from '#schemas/topics.ts'
import type { Refusal } from './broker-refusals.ts'

/**
 * Requested settings of a topic by name, with the names that broker messages use for partitions and replicas.
 */
export type Requested = Readonly<Record<string, string>>

/** The request for a new topic. */
export function requestedOf({ partitions, config }: TopicToCreate, copies?: number): Requested {
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
  'have the topics created by someone who may (docs/topics.md), then run scripts/migrate --check-topics-only'

/** One sentence: topic, setting, requested value, allowed value if Kafka says, and what to do. */
export function explainRefusal(
  refused: readonly Refusal[],
  requests: ReadonlyMap<string, Requested>,
): string {
  const [first] = refused
  if (first === undefined) return 'Kafka refuses a topic'
  const { topic, type, message } = first
  const requested = requests.get(topic) ?? {}
  const isAccess = type.endsWith('_AUTHORIZATION_FAILED')
  const named = settingsIn(message, type, requested)
  const what = isAccess ? '' : `, requested: ${listOf(requested, named)}`
  const words =
    message === '' || message === 'null' ? '' : `; Kafka says: ${message.trim().replace(/\.$/, '')}`
  const others = refused.length === 1 ? '' : `; ${refused.length - 1} other topics are refused too`
  return `Kafka refuses topic ${topic} (${type})${what}${words}${others}: ${remedyOf(isAccess, named)}`
}

/** Settings that the refusal is about; empty if it does not say. */
function settingsIn(message: string, type: string, requested: Requested): string[] {
  const text = `${message} ${type}`.toLowerCase().replaceAll('_', ' ')
  return Object.keys(requested).filter((name) => text.includes(name))
}

function listOf(requested: Requested, named: readonly string[]): string {
  const shown = Object.entries(requested).filter(([name]) => named.length === 0 || named.includes(name))
  return shown.map(([name, value]) => `${name} ${value}`).join(', ')
}

function remedyOf(isAccess: boolean, named: readonly string[]): string {
  if (isAccess) return `give this user the rights that scripts/kafka-acls prints, or ${byOthers}`
  const set = named.flatMap((name) => variables[name] ?? [])
  return set.length === 0 ? byOthers : `set ${set.join(' and ')}, or ${byOthers}`
}

import {
  allGroups,
  definitionOf,
  processNames,
  type KafkaAccess,
  type ProcessName,
} from '#schemas/services.ts'
import { deadLetterTopic, topics, type TopicDefinition } from '#schemas/topics.ts'

export type Operation =
  'READ' | 'WRITE' | 'CREATE' | 'DELETE' | 'ALTER' | 'DESCRIBE' | 'DESCRIBE_CONFIGS' | 'ALTER_CONFIGS'
export type KafkaClient = ProcessName | 'migrate'

/** Allows a client these operations. READ and WRITE imply DESCRIBE. */
export interface Grant {
  resource: 'TOPIC' | 'GROUP'
  name: string
  pattern: 'LITERAL' | 'PREFIXED'
  operations: readonly Operation[]
}

/** Made by scripts/migrate: topics, as schemas/topics.ts lists them. */
const migration: Operation[] = ['CREATE', 'ALTER', 'DESCRIBE', 'ALTER_CONFIGS', 'DESCRIBE_CONFIGS']

/** Every client of Kafka: the services that speak to it, and the migration. */
export const kafkaClients: readonly KafkaClient[] = [
  ...processNames.filter((name) => definitionOf(name).kafka !== undefined),
  'migrate',
]

/** Access from the rows of schemas/services.ts, which has none for the migration. */
function accessOf(client: KafkaClient): Partial<KafkaAccess> {
  return client === 'migrate' ? {} : (definitionOf(client).kafka ?? {})
}

/** The rights of one client, with TOPIC_PREFIX before every name; each resource once. */
export function grantsOf(client: KafkaClient, prefix: string): Grant[] {
  const access = accessOf(client)
  const onAllTopics = client === 'migrate' ? migration : (access.onAllTopics ?? [])
  const granted = new Map<string, Grant & { operations: Operation[] }>()
  const allow = (of: Omit<Grant, 'operations'>, ...operations: readonly Operation[]) => {
    const key = `${of.resource} ${of.name}`
    const grant = granted.get(key) ?? { ...of, name: prefix + of.name, operations: [] }
    grant.operations.push(...operations.filter((operation) => !grant.operations.includes(operation)))
    granted.set(key, grant)
  }
  const topic = (name: string) => ({ resource: 'TOPIC', name, pattern: 'LITERAL' }) as const
  const group = (name: string, pattern: Grant['pattern'] = 'LITERAL') =>
    ({ resource: 'GROUP', name, pattern }) as const

  for (const { name, deadLetters } of Object.values(access.groups ?? {}).flat()) {
    allow(topic(name), 'READ')
    if (deadLetters) allow(topic(deadLetterTopic(name)), 'WRITE')
  }
  for (const { name } of access.writes ?? []) allow(topic(name), 'WRITE')
  for (const { name, deadLetters } of Object.values(topics) as TopicDefinition[]) {
    if (onAllTopics.length > 0) allow(topic(name), ...onAllTopics)
    if (!deadLetters) continue
    if (access.readsDeadLetters === true) allow(topic(deadLetterTopic(name)), 'READ')
    if (onAllTopics.length > 0) allow(topic(deadLetterTopic(name)), ...onAllTopics)
  }
  for (const name of Object.keys(access.groups ?? {})) allow(group(name), 'READ')
  const watched = access.watchedGroups === 'all' ? allGroups : (access.watchedGroups ?? [])
  for (const name of watched) allow(group(name), 'DESCRIBE')
  if (access.temporaryGroups !== undefined) allow(group(access.temporaryGroups, 'PREFIXED'), 'READ', 'DELETE')
  return [...granted.values()]
}

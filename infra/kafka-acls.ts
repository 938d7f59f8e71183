import { deadLetterTopic, topics, type TopicDefinition } from '#schemas/topics.ts'

export type Operation =
  'READ' | 'WRITE' | 'CREATE' | 'DELETE' | 'ALTER' | 'DESCRIBE' | 'DESCRIBE_CONFIGS' | 'ALTER_CONFIGS'
export type KafkaClient = 'api' | 'gateway' | 'sink' | 'scorer' | 'notifier' | 'migrate'

/** That a client may do these operations, and nothing else. READ and WRITE imply DESCRIBE. */
export interface Grant {
  resource: 'TOPIC' | 'GROUP'
  name: string
  pattern: 'LITERAL' | 'PREFIXED'
  operations: readonly Operation[]
}

/** What each client does with topics and consumer groups. Dead letters follow from what is read. */
interface Access {
  reads: readonly TopicDefinition[]
  /** Looks at dead letters themselves: to index them, to send them again. */
  readsDeadLetters?: boolean
  writes: readonly TopicDefinition[]
  groups: readonly string[]
  /** Each reading of history makes a group of its own and deletes it afterwards; their names start so. */
  temporaryGroups?: string
  /** Groups whose progress it looks at. */
  watchedGroups?: readonly string[]
  /** On all topics, beside what reading and writing need. */
  onAllTopics?: readonly Operation[]
}

const { requestLogged, requestEphemeral, scoreJobs, scoreJobsEphemeral, scoreJobsReplay } = topics
const { scoreJobsLarge, scoreJobsLargeEphemeral } = topics
const { scoreRecorded, eventRaised, deliveryDue, deliveryDead } = topics
const retries = [topics.deliveryRetry1s, topics.deliveryRetry2s, topics.deliveryRetry4s]
const withDeadLetters: readonly TopicDefinition[] = Object.values(topics).filter((topic) => topic.deadLetters)

const groups = {
  sink: ['sink-calls', 'sink-scores', 'sink-dead-letters'],
  scorer: ['scorer', 'scorer-large', 'scorer-replay'],
  notifier: ['notifier-fan-out', 'notifier-due', 'notifier-retry'],
}

/** The one table of who does what with Kafka. The red team and the dashboard do nothing with it. */
export const kafkaAccess: Readonly<Record<KafkaClient, Access>> = {
  // ingest's routes are the API's. A dead letter is sent again to wherever it came from.
  api: {
    reads: [],
    readsDeadLetters: true,
    writes: [requestLogged, requestEphemeral, deliveryDue, ...withDeadLetters],
    groups: [],
    temporaryGroups: 'redrive-',
    // `/api/operations` shows everybody's lag.
    watchedGroups: Object.values(groups).flat(),
    onAllTopics: ['DESCRIBE'],
  },
  // With GATEWAY_DELIVERY=kafka alone; else it does nothing with Kafka.
  gateway: { reads: [], writes: [requestLogged, requestEphemeral], groups: [] },
  sink: {
    reads: [requestLogged, requestEphemeral, scoreRecorded],
    readsDeadLetters: true,
    writes: [scoreJobs, scoreJobsEphemeral, scoreJobsReplay, eventRaised],
    groups: groups.sink,
    temporaryGroups: 'sink-replay-',
    // Replays are fed no faster than scorers take them, and the sweep leaves alone what scorers have not come to.
    watchedGroups: groups.scorer,
    // It measures replicas and `min.insync.replicas` for alerts.
    onAllTopics: ['DESCRIBE', 'DESCRIBE_CONFIGS'],
  },
  scorer: {
    reads: [scoreJobs, scoreJobsEphemeral, scoreJobsLarge, scoreJobsLargeEphemeral, scoreJobsReplay],
    // A large call goes to the lane of its own; a call that was too slow goes back to the end of its lane.
    writes: [scoreJobsLarge, scoreJobsLargeEphemeral, scoreJobsReplay, scoreRecorded],
    groups: groups.scorer,
  },
  notifier: {
    reads: [eventRaised, deliveryDue, ...retries],
    writes: [deliveryDue, ...retries, deliveryDead],
    groups: groups.notifier,
  },
  migrate: {
    reads: [],
    writes: [],
    groups: [],
    onAllTopics: ['CREATE', 'ALTER', 'DESCRIBE', 'ALTER_CONFIGS', 'DESCRIBE_CONFIGS'],
  },
}

/** The rights of one client, with TOPIC_PREFIX in front of every name; each resource once. */
export function grantsOf(client: KafkaClient, prefix: string): Grant[] {
  const access = kafkaAccess[client]
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

  for (const { name, deadLetters } of access.reads) {
    allow(topic(name), 'READ')
    if (deadLetters) allow(topic(deadLetterTopic(name)), 'WRITE')
  }
  for (const { name } of access.writes) allow(topic(name), 'WRITE')
  for (const { name, deadLetters } of Object.values(topics) as TopicDefinition[]) {
    if (access.onAllTopics !== undefined) allow(topic(name), ...access.onAllTopics)
    if (!deadLetters) continue
    if (access.readsDeadLetters === true) allow(topic(deadLetterTopic(name)), 'READ')
    if (access.onAllTopics !== undefined) allow(topic(deadLetterTopic(name)), ...access.onAllTopics)
  }
  for (const name of access.groups) allow(group(name), 'READ')
  for (const name of access.watchedGroups ?? []) allow(group(name), 'DESCRIBE')
  if (access.temporaryGroups !== undefined) allow(group(access.temporaryGroups, 'PREFIXED'), 'READ', 'DELETE')
  return [...granted.values()]
}

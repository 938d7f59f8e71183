import { setTimeout as delay } from 'node:timers/promises'
import { SchemaRegistry } from '@kafkajs/confluent-schema-registry'
import kafkajs, { type Admin, type ConfigEntries, type ITopicMetadata, type Kafka } from 'kafkajs'
import { messageOf } from '#runtime/errors.ts'
import { registryAddress } from '#runtime/kafka/registry-address.ts'
import type { Log } from '#runtime/log.ts'
import {
  avroSchemas,
  defaultTopicSettings,
  topics,
  topicsToCreate,
  type TopicSettings,
  type TopicToCreate,
} from '#schemas/topics.ts'
import { readersLevel, readLevel, setLevel } from './ask-registry.ts'
import { CannotStart } from './embedded/embedded-part.ts'
import { requestedOf, explainRefusal, type Requested } from './explain-refusal.ts'
import { captureRefusals, refusalsOf } from './broker-refusals.ts'
import { fewestCopies, inSyncOf, refuseFewerCopies } from './topic-copies.ts'

interface CreateTopicsOptions {
  kafka: Kafka
  prefix: string
  /** Of new topics; at most the number of brokers. */
  replicationFactor: number
  settings?: TopicSettings
  log: Log
}

/**
 * Makes the cluster's topics match schemas/topics.ts: creates missing ones, adds partitions, and sets their
 * configuration; other settings stay. Safe to run at any time, also while a broker is down:
 * `min.insync.replicas` follows from the topic's own replicas. Resolves with the topics that have fewer than
 * `replicationFactor` replicas, which only an operator can change. Throws CannotStart if a missing one would
 * get fewer replicas than the others, or if Kafka refuses one.
 */
export async function createTopics({
  kafka,
  prefix,
  replicationFactor,
  settings = defaultTopicSettings,
  log,
}: CreateTopicsOptions): Promise<readonly string[]> {
  const wanted = topicsToCreate(prefix, settings)
  captureRefusals()
  const admin = kafka.admin()
  await admin.connect()
  try {
    const existing = new Set(await admin.listTopics())
    const missing = wanted.filter(({ name }) => !existing.has(name))
    const present = wanted.filter(({ name }) => existing.has(name))
    const described = await describe(admin, present)
    const copies = new Map(described.map(({ name, partitions }) => [name, fewestCopies(partitions)]))
    const copiesOf = ({ name }: TopicToCreate) => copies.get(name) ?? replicationFactor
    if (missing[0] !== undefined) {
      refuseFewerCopies(missing[0].name, replicationFactor, [...copies.values()])
      await createMissing(admin, missing, replicationFactor)
    }
    if (present.length > 0) {
      await addPartitions(admin, present, described)
      await setConfiguration(
        admin,
        present.map((topic) => withInSync(topic, copiesOf(topic))),
      )
    }
    await awaitTopics(admin, wanted)
    log.info({ created: missing.length, checked: present.length }, 'topics are as schemas/topics.ts says')
    return present.filter((topic) => copiesOf(topic) < replicationFactor).map(({ name }) => name)
  } finally {
    await admin.disconnect()
  }
}

async function describe(admin: Admin, present: readonly TopicToCreate[]): Promise<ITopicMetadata[]> {
  if (present.length === 0) return []
  return (await admin.fetchTopicMetadata({ topics: present.map(({ name }) => name) })).topics
}

function withInSync(topic: TopicToCreate, copies: number): TopicToCreate {
  return { ...topic, config: { ...topic.config, 'min.insync.replicas': String(inSyncOf(copies)) } }
}

async function createMissing(
  admin: Admin,
  missing: readonly TopicToCreate[],
  replicationFactor: number,
): Promise<void> {
  const requested = missing.map((topic) => withInSync(topic, replicationFactor))
  const created = admin.createTopics({
    waitForLeaders: false,
    timeout: 30_000,
    topics: requested.map(({ name, partitions, config }) => ({
      topic: name,
      numPartitions: partitions,
      replicationFactor,
      configEntries: entriesOf(config),
    })),
  })
  await inSentences(
    created,
    new Map(requested.map((topic) => [topic.name, requestedOf(topic, replicationFactor)])),
  )
}

/** Throws CannotStart for what the brokers refuse, except for a topic that someone else has just created. */
async function inSentences(done: Promise<unknown>, requested: ReadonlyMap<string, Requested>): Promise<void> {
  try {
    await done
  } catch (error) {
    const refused = refusalsOf(error)
    const meant = refused.filter(({ type }) => type !== 'TOPIC_ALREADY_EXISTS')
    if (meant.length > 0) throw new CannotStart(explainRefusal(meant, requested))
    if (refused.length === 0) throw error
  }
}

/**
 * Resolves when the topics have all partitions, each with a leader. Replaces kafkajs's `waitForLeaders` (its
 * default), which fails if the asked broker does not know a new topic yet. Throws after 30 s.
 */
export async function awaitTopics(
  admin: Admin,
  wanted: readonly { name: string; partitions: number }[],
): Promise<void> {
  const deadlineMs = Date.now() + 30_000
  const counts = new Map(wanted.map(({ name, partitions }) => [name, partitions]))
  for (;;) {
    try {
      const { topics: found } = await admin.fetchTopicMetadata({ topics: [...counts.keys()] })
      const ready = found.every(
        ({ name, partitions }) =>
          partitions.length >= (counts.get(name) ?? 0) && partitions.every(({ leader }) => leader >= 0),
      )
      if (ready) return
      if (Date.now() > deadlineMs) throw new Error('topics have no leaders after 30 s')
    } catch (error) {
      // Not known yet. Other errors persist and are thrown at the end.
      if (Date.now() > deadlineMs) throw error
    }
    await delay(100)
  }
}

async function addPartitions(
  admin: Admin,
  present: readonly TopicToCreate[],
  described: readonly ITopicMetadata[],
): Promise<void> {
  const counts = new Map(described.map(({ name, partitions }) => [name, partitions.length]))
  const short = present.filter(({ name, partitions }) => (counts.get(name) ?? partitions) < partitions)
  if (short.length === 0) return
  const added = admin.createPartitions({
    topicPartitions: short.map(({ name, partitions }) => ({ topic: name, count: partitions })),
  })
  await inSentences(
    added,
    new Map(short.map(({ name, partitions }) => [name, { partitions: String(partitions) }])),
  )
}

/**
 * Sets the configuration. The broker replaces all of it, so operators' additional settings are sent again.
 */
async function setConfiguration(admin: Admin, present: readonly TopicToCreate[]): Promise<void> {
  const type = kafkajs.ConfigResourceTypes.TOPIC
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: present.map(({ name }) => ({ type, name })),
  })
  const current = new Map(resources.map(({ resourceName, configEntries }) => [resourceName, configEntries]))
  const isAsWanted = (name: string, key: string, value: string) =>
    current.get(name)?.some(({ configName, configValue }) => configName === key && configValue === value)
  const changed = present.filter(({ name, config }) =>
    Object.entries(config).some(([key, value]) => isAsWanted(name, key, value) !== true),
  )
  if (changed.length === 0) return
  const altered = admin.alterConfigs({
    validateOnly: false,
    resources: changed.map(({ name, config }) => ({
      type,
      name,
      configEntries: entriesOf({ ...setOnTopic(current.get(name) ?? []), ...config }),
    })),
  })
  await inSentences(altered, new Map(changed.map(({ name, config }) => [name, config])))
}

function setOnTopic(entries: readonly ConfigEntries[]): Record<string, string> {
  return Object.fromEntries(
    entries
      .filter(({ configSource }) => configSource === kafkajs.ConfigSource.TOPIC_CONFIG)
      .map(({ configName, configValue }) => [configName, configValue]),
  )
}

function entriesOf(config: Readonly<Record<string, string>>): { name: string; value: string }[] {
  return Object.entries(config).map(([name, value]) => ({ name, value }))
}

/** One minute in total. */
const maxJournalAttempts = 60
const journalPauseMs = 1_000

interface RegisterSchemasOptions {
  registryUrl: string
  prefix: string
  log: Log
}

/**
 * Registers every topic's schema as subject `<prefix + topic>-value`, BACKWARD_TRANSITIVE, whatever level is
 * set. Throws CannotStart if a change breaks readers, TransientError if the registry is down.
 */
export async function registerSchemas({ registryUrl, prefix, log }: RegisterSchemasOptions): Promise<void> {
  const registry = new SchemaRegistry(registryAddress(registryUrl))
  for (const { name, schema } of Object.values(topics)) {
    const subject = `${prefix}${name}-value`
    const level = await readLevel(registryUrl, subject)
    // The client refuses to register if another level is set. If none is set, it sets ours.
    if (level !== undefined && level !== readersLevel) await setLevel(registryUrl, subject)
    await register(() =>
      registry.register(avroSchemas[schema] as never, { subject, compatibility: readersLevel }),
    ).catch((error: unknown) => {
      if (!isConflict(error)) throw error
      throw new CannotStart(`the registry does not take the schema of ${subject}: ${messageOf(error)}`)
    })
  }
  log.info({ subjects: Object.keys(topics).length }, 'schemas are registered')
}

/**
 * Retries while Apicurio reads its journal from Kafka, which takes seconds. Meanwhile it answers, finds no
 * schema, and refuses to store one that exists.
 */
async function register(send: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await send()
      return
    } catch (error) {
      const isReading = isConflict(error) && messageOf(error).includes('already exists')
      if (!isReading || attempt === maxJournalAttempts) throw error
      await delay(journalPauseMs)
    }
  }
}

function isConflict(error: unknown): boolean {
  return Error.isError(error) && 'status' in error && error.status === 409
}

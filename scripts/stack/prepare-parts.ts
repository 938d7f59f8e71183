import type { Kafka } from 'kafkajs'
import { z } from 'zod'
import { CannotStart, type Say } from '#infra/embedded/embedded-part.ts'
import { createTopics, registerSchemas } from '#infra/create-topics.ts'
import { migrate } from '#infra/migrate.ts'
import { copiesWith } from '#infra/topic-copies.ts'
import { topicFields, topicSettingsOf } from '#infra/topic-settings.ts'
import { kafkaFields, parseConfig, postgresFields, type Environment } from '#runtime/config.ts'
import { createKafka } from '#runtime/kafka/create-kafka.ts'
import { withAdmin } from '#runtime/kafka/with-admin.ts'
import { createLog, type Log } from '#runtime/log.ts'
import type { TopicSettings } from '#schemas/topics.ts'
import { overrideEnvironment } from './override-environment.ts'
import type { PartAddresses } from './plan-services.ts'

/**
 * Brings database, topics and schemas to this version; changes nothing if they are. `madeByOthers`: leaves
 * topics unchanged. Throws CannotStart for what must change first.
 */
export async function prepareParts(
  addresses: PartAddresses,
  environment: Environment,
  say: Say,
  madeByOthers = false,
): Promise<void> {
  const { DATABASE_URL, DATABASE_SSL_CA, DATABASE_ROLE_PREFIX } = postgresFields
  const wanted = z.object({
    ...kafkaFields,
    ...topicFields,
    DATABASE_URL,
    DATABASE_SSL_CA,
    DATABASE_ROLE_PREFIX,
  })
  const parsed = parseConfig(wanted, overrideEnvironment(environment, { ...addresses }))
  if (!parsed.ok)
    throw new CannotStart(`Kafka or Postgres cannot be reached as configured: ${parsed.problems.join('; ')}.`)
  const { DATABASE_URL: url, DATABASE_SSL_CA: authority, DATABASE_ROLE_PREFIX: rolePrefix } = parsed.value
  const { applied, newer, tookOver } = await migrate(url, authority, rolePrefix)
  if (tookOver) say('the migrations before 0.1.0 are recorded under their new names; nothing else changed')
  if (applied.length > 0) say(`migrated: ${applied.join(', ')}`)
  if (newer.length > 0)
    say(`the database is of a newer version, over which this one runs: ${newer.join(', ')}`)

  const log = createLog('up', 'warn')
  const kafka = createKafka(parsed.value, { clientId: 'sluice-up', log })
  const prefix = parsed.value.TOPIC_PREFIX
  if (!madeByOthers) await makeTopics(kafka, prefix, topicSettingsOf(parsed.value), log, say)
  await registerSchemas({ registryUrl: addresses.SCHEMA_REGISTRY_URL, prefix, log })
}

async function makeTopics(
  kafka: Kafka,
  prefix: string,
  settings: TopicSettings,
  log: Log,
  say: Say,
): Promise<void> {
  const { brokers } = await withAdmin(kafka, (admin) => admin.describeCluster())
  const replicationFactor = copiesWith(brokers.length)
  const thin = await createTopics({ kafka, prefix, replicationFactor, settings, log })
  if (thin.length > 0)
    say(
      `${thin.length} topics are kept fewer than ${replicationFactor} times, ${thin[0] ?? ''} for one: raise it with kafka-reassign-partitions.sh, then run scripts/migrate again (docs/operations.md)`,
    )
}

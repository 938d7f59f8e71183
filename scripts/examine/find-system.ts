import { resolve } from 'node:path'
import type { Kafka } from 'kafkajs'
import { z } from 'zod'
import { CannotStart } from '#infra/embedded/embedded-part.ts'
import {
  kafkaFields,
  parseConfig,
  certificates,
  postgresFields,
  registryFields,
  sealingFields,
} from '#runtime/config.ts'
import { topicFields } from '#infra/topic-settings.ts'
import { createKafka } from '#runtime/kafka/create-kafka.ts'
import { createLog } from '#runtime/log.ts'
import type { Connection } from '../stack/connection.ts'
import { completeEnvironment, overrideEnvironment } from '../stack/override-environment.ts'
import type { Secrets } from '../stack/secrets.ts'
import { readRecord, type ProcessStatus } from '../stack/stack-record.ts'
import { readWritten, statePaths } from '../stack/state-directory.ts'

const schema = z.object({
  ...kafkaFields,
  ...topicFields,
  ...registryFields,
  ...postgresFields,
  ...sealingFields,
  /** The notifier's; it expires like the others. */
  WEBHOOK_CA: certificates().optional(),
  SPOOL_DIR: z.string().optional(),
  SPOOL_MAX_BYTES: z.coerce.number().int().positive().optional(),
})

/** A system to examine, and how to reach it. */
export interface System {
  config: z.output<typeof schema>
  /** Environment of the services: which secrets are set, and where. */
  environment: NodeJS.ProcessEnv
  kafka: Kafka
  /** URLs of /readyz, by service. */
  operations: Readonly<Record<string, string>>
  /** Processes according to the supervisor of such a stack. */
  processes: readonly ProcessStatus[]
  /** Of a stack that scripts/up started. */
  stateDirectory: string | undefined
  /** This host's clock in Unix milliseconds. */
  now: () => number
}

export interface Place {
  /** The running stack; undefined: what the environment names, else .sluice. */
  state: string | undefined
  /** NAME=URL. */
  operations: readonly string[]
}

/**
 * The system that the environment names (KAFKA_BROKERS, SCHEMA_REGISTRY_URL, DATABASE_URL), or the running
 * stack in `state`. Throws CannotStart.
 */
export async function findSystem(place: Place, environment: NodeJS.ProcessEnv): Promise<System> {
  const isNamed = ['KAFKA_BROKERS', 'DATABASE_URL', 'DATABASE_HOST'].some(
    (name) => environment[name] !== undefined || environment[`${name}_FILE`] !== undefined,
  )
  const stateDirectory = place.state === undefined && isNamed ? undefined : resolve(place.state ?? '.sluice')
  const found = stateDirectory === undefined ? undefined : await readState(stateDirectory)
  // Keys in the environment are those that the stack was started with: it stores only generated ones.
  const all =
    found === undefined
      ? environment
      : overrideEnvironment(completeEnvironment(environment, { ...found.secrets }), found.places)
  const parsed = parseConfig(schema, all)
  if (!parsed.ok) throw new CannotStart(`the configuration is wrong\n${parsed.problems.join('\n')}`)
  return {
    config: parsed.value,
    environment: all,
    kafka: createKafka(parsed.value, { clientId: 'sluice-doctor', log: createLog('doctor', 'silent') }),
    operations: { ...found?.operations, ...readOperations(place.operations) },
    processes: found?.processes ?? [],
    stateDirectory,
    now: () => Date.now(),
  }
}

function readOperations(given: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    given.map((text) => {
      const [, name = '', url = ''] = /^([a-z-]+)=(https?:\/\/\S+)$/.exec(text) ?? []
      if (name === '') throw new CannotStart(`--service takes NAME=URL, not ${text}`)
      return [name, url]
    }),
  )
}

async function readState(directory: string) {
  const paths = statePaths(directory)
  const instead = 'KAFKA_BROKERS, SCHEMA_REGISTRY_URL and DATABASE_URL'
  const connection = await readWritten<Connection>(paths.connection, instead)
  const secrets = await readWritten<Secrets>(paths.secrets, instead)
  const record = await readRecord(paths.record)
  return {
    secrets,
    processes: record?.processes ?? [],
    places: {
      KAFKA_BROKERS: connection.kafka_brokers,
      SCHEMA_REGISTRY_URL: connection.schema_registry_url,
      DATABASE_URL: connection.database_url,
      SPOOL_DIR: paths.spool,
    },
    operations: connection.operations,
  }
}

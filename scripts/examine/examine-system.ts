import { isIPv6 } from 'node:net'
import { Client } from 'pg'
import { codeOf, messageOf } from '#runtime/errors.ts'
import { connectionOf } from '#runtime/postgres-address.ts'
import { examineAccess } from './examine-access.ts'
import { examineCertificates } from './examine-certificates.ts'
import { examineLag } from './examine-lag.ts'
import { examinePositions } from './examine-positions.ts'
import { examinePostgres } from './examine-postgres.ts'
import { examineSchemas } from './examine-schemas.ts'
import { examineDisk, examineSecrets } from './examine-secrets.ts'
import { examineServices } from './examine-services.ts'
import { examineSpool } from './examine-spool.ts'
import { examineTopics } from './examine-topics.ts'
import type { System } from './find-system.ts'
import { problem, type Finding } from './finding.ts'

interface Examination {
  check: string
  examine: (system: System) => Promise<Finding[]>
  /** Remedy if the check itself fails. */
  remedy: string
  /**
   * What the check connects to: errors of Kafka's and Postgres's clients name no address if a connection
   * closed or timed out.
   */
  at?: (system: System) => string
}

const kafkaAt = ({ config }: System) => `Kafka at ${config.KAFKA_BROKERS.join(', ')}`
const postgresAt = ({ config }: System) => {
  const { host, port } = new Client(connectionOf(config))
  return `Postgres at ${isIPv6(host) ? `[${host}]` : host}:${port}`
}

const kafkaRemedy = 'is it up, and are KAFKA_BROKERS, KAFKA_SSL and KAFKA_SASL_* those of the services?'
const examinations: readonly Examination[] = [
  { check: 'kafka', examine: examineTopics, remedy: kafkaRemedy, at: kafkaAt },
  { check: 'acl', examine: examineAccess, remedy: kafkaRemedy, at: kafkaAt },
  {
    check: 'schemas',
    examine: examineSchemas,
    remedy: 'is the registry up, and is SCHEMA_REGISTRY_URL right?',
  },
  { check: 'lag', examine: examineLag, remedy: kafkaRemedy, at: kafkaAt },
  {
    check: 'postgres',
    examine: examinePostgres,
    remedy: 'is it up, and does DATABASE_URL name it and a login that may read?',
    at: postgresAt,
  },
  {
    check: 'positions',
    examine: examinePositions,
    remedy: 'are Kafka and Postgres up, and migrated?',
    at: (system) => `${kafkaAt(system)} or ${postgresAt(system)}`,
  },
  { check: 'services', examine: examineServices, remedy: 'the addresses given with --service' },
  { check: 'spool', examine: examineSpool, remedy: 'SPOOL_DIR has to be readable here' },
  { check: 'certificates', examine: examineCertificates, remedy: 'the files that DATABASE_URL names' },
  { check: 'secrets', examine: examineSecrets, remedy: 'the files that *_FILE name' },
  { check: 'disk', examine: examineDisk, remedy: 'the state directory has to be readable here' },
]

/** All checks. One that fails to run is a problem of its own and does not stop the others. */
export async function examineSystem(system: System): Promise<Finding[]> {
  const findings = await Promise.all(
    examinations.map(async ({ check, examine, remedy, at }) => {
      try {
        return await examine(system)
      } catch (error) {
        const whom = at === undefined ? '' : `${at(system)} `
        return [problem(check, `${whom}cannot be examined: ${whyOf(error)}`, remedy)]
      }
    }),
  )
  return findings.flat()
}

/** With several addresses for a host there is a code and no message. */
function whyOf(error: unknown): string {
  return messageOf(error) || codeOf(error) || 'no reason given'
}

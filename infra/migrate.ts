import { createRequire } from 'node:module'
import type { Knex } from 'knex'
import type { Client } from 'pg'
import { CannotStart } from './embedded/embedded-part.ts'
import { requireOwnSessions } from '#runtime/own-sessions.ts'
import { connectionOf, type PostgresAddress } from '#runtime/postgres-address.ts'
import { classifyPostgresError, giveUpSilentClients } from '#runtime/postgres.ts'
import { explainMissingRight, requireOwnRoles } from './database-rights.ts'
import * as projects from './migrations/0001-projects.ts'
import * as requests from './migrations/0002-requests.ts'
import * as events from './migrations/0003-events.ts'
import * as waitingDeliveries from './migrations/0004-waiting-deliveries.ts'
import * as ephemeralCalls from './migrations/0005-ephemeral-calls.ts'
import * as deadLetters from './migrations/0006-dead-letters.ts'
import * as sweptCalls from './migrations/0007-swept-calls.ts'
import * as failingExpressions from './migrations/0008-failing-expressions.ts'
import * as gateways from './migrations/0009-gateways.ts'
import * as rollups from './migrations/0010-rollups.ts'
import * as erasures from './migrations/0011-erasures.ts'
import * as accessFunctions from './migrations/0012-access-functions.ts'
import * as quotaAlerts from './migrations/0013-quota-alerts.ts'
import * as readingIndexes from './migrations/0014-reading-indexes.ts'
import * as scoreReviews from './migrations/0015-score-reviews.ts'
import * as judgeBudget from './migrations/0016-judge-budget.ts'
import * as failingWebhooks from './migrations/0017-failing-webhooks.ts'
import * as payments from './migrations/0018-payments.ts'
import * as bodyKeys from './migrations/0019-body-keys.ts'
import * as scoreRuns from './migrations/0020-score-runs.ts'
import * as keyUses from './migrations/0021-key-uses.ts'
import * as judgeSpendByScorer from './migrations/0022-judge-spend-by-scorer.ts'
import * as people from './migrations/0023-people.ts'
import * as claimRequests from './migrations/0024-claim-requests.ts'
import * as dayRollups from './migrations/0025-day-rollups.ts'
import * as redteamRuns from './migrations/0027-redteam-runs.ts'
import * as logIndexes from './migrations/0029-log-indexes.ts'
import * as deliveriesWithoutChecks from './migrations/0032-deliveries-without-checks.ts'
import * as deliveriesInPlace from './migrations/0033-delivery-updates-in-place.ts'
import * as failedCalls from './migrations/0034-failed-calls.ts'
import * as reviewCounts from './migrations/0036-review-counts.ts'
import * as redteamTurns from './migrations/0038-redteam-turns.ts'
import * as webhooksGoFirst from './migrations/0039-webhooks-go-first.ts'
import * as authorsOfReviews from './migrations/0040-authors-of-reviews.ts'
import * as upkeepOfLargeTables from './migrations/0041-upkeep-of-large-tables.ts'
import * as abortedAndTaggedCalls from './migrations/0042-aborted-and-tagged-calls.ts'
import * as upkeepRounds from './migrations/0043-upkeep-rounds.ts'
import * as missingDayTables from './migrations/0044-missing-day-tables.ts'
import * as detachedDayTables from './migrations/0046-detached-day-tables.ts'
import * as roomForEndsOfAttempts from './migrations/0048-room-for-ends-of-attempts.ts'
import * as periodsByPostgres from './migrations/0049-periods-by-postgres.ts'
import * as judgeMoneyByPostgres from './migrations/0050-judge-money-by-postgres.ts'
import * as endsThatRunsAwait from './migrations/0051-ends-that-runs-await.ts'
import * as openCheckouts from './migrations/0052-open-checkouts.ts'
import { secureRows } from './row-security.ts'

// knex is CommonJS and its type of the default import is not callable under `nodenext`.
const createKnex = createRequire(import.meta.url)('knex') as (config: Knex.Config) => Knex

/** In the order they run. A migration that has been released is never changed. */
const migrations: Readonly<Record<string, Knex.Migration>> = {
  '0001-projects': projects,
  '0002-requests': requests,
  '0003-events': events,
  '0004-waiting-deliveries': waitingDeliveries,
  '0005-ephemeral-calls': ephemeralCalls,
  '0006-dead-letters': deadLetters,
  '0007-swept-calls': sweptCalls,
  '0008-failing-expressions': failingExpressions,
  '0009-gateways': gateways,
  '0010-rollups': rollups,
  '0011-erasures': erasures,
  '0012-access-functions': accessFunctions,
  '0013-quota-alerts': quotaAlerts,
  '0014-reading-indexes': readingIndexes,
  '0015-score-reviews': scoreReviews,
  '0016-judge-budget': judgeBudget,
  '0017-failing-webhooks': failingWebhooks,
  '0018-payments': payments,
  '0019-body-keys': bodyKeys,
  '0020-score-runs': scoreRuns,
  '0021-key-uses': keyUses,
  '0022-judge-spend-by-scorer': judgeSpendByScorer,
  '0023-people': people,
  '0024-claim-requests': claimRequests,
  '0025-day-rollups': dayRollups,
  '0027-redteam-runs': redteamRuns,
  '0029-log-indexes': logIndexes,
  '0032-deliveries-without-checks': deliveriesWithoutChecks,
  '0033-delivery-updates-in-place': deliveriesInPlace,
  '0034-failed-calls': failedCalls,
  '0036-review-counts': reviewCounts,
  '0038-redteam-turns': redteamTurns,
  '0039-webhooks-go-first': webhooksGoFirst,
  '0040-authors-of-reviews': authorsOfReviews,
  '0041-upkeep-of-large-tables': upkeepOfLargeTables,
  '0042-aborted-and-tagged-calls': abortedAndTaggedCalls,
  '0043-upkeep-rounds': upkeepRounds,
  '0044-missing-day-tables': missingDayTables,
  '0046-detached-day-tables': detachedDayTables,
  '0048-room-for-ends-of-attempts': roomForEndsOfAttempts,
  '0049-periods-by-postgres': periodsByPostgres,
  '0050-judge-money-by-postgres': judgeMoneyByPostgres,
  '0051-ends-that-runs-await': endsThatRunsAwait,
  '0052-open-checkouts': openCheckouts,
}

const migrationSource: Knex.MigrationSource<string> = {
  getMigrations: () => Promise.resolve(Object.keys(migrations)),
  getMigrationName: (name) => name,
  getMigration: (name) => {
    const migration = migrations[name]
    return migration === undefined
      ? Promise.reject(new Error(`no migration is named ${name}`))
      : Promise.resolve(migration)
  },
}

/** Any number, the same for every version: whoever holds this advisory lock migrates, others wait. */
const migrationLock = 7_355_608

export interface MigrationReport {
  applied: readonly string[]
  pending: readonly string[]
  /** Applied by a newer version of Sluice: this one runs over them, and does not know what they hold. */
  newer: readonly string[]
}

/**
 * Brings the database at `url` up to date; safe to run twice and twice at once. Returns what it applied. With an authority (PEM) the
 * server must be certified by it. `rolePrefix` is the services' DATABASE_ROLE_PREFIX.
 */
export async function migrate(url: string, authority?: string, rolePrefix = ''): Promise<MigrationReport> {
  const address = { DATABASE_URL: url, DATABASE_SSL_CA: authority }
  return withKnex(address, async (knex) => {
    // Held by one connection of its own; a killed migrator's lock goes with its connection, unlike knex's lock row.
    await knex.raw('select pg_advisory_lock(?)', [migrationLock])
    // A migrator that was killed leaves knex's own lock row set; with the advisory lock held, nobody can be using it.
    await knex.migrate.forceFreeMigrationsLock()
    if ((await listMigrations(knex)).names.length === 0) await requireOwnRoles(address, rolePrefix)
    const [, applied] = (await knex.migrate.latest()) as [number, string[]]
    const newer = await findNewer(knex)
    // Who may read a newer version's tables is for that version to say.
    if (newer.length === 0) await secureRows(address, rolePrefix)
    return { applied, pending: [], newer }
  })
}

/**
 * Undoes the migration that was applied last, with the data of its tables. Returns its name; undefined when there is none. Throws
 * CannotStart where a newer version's stands behind it: that version alone can undo it.
 */
export async function undoLast(url: string, authority?: string): Promise<string | undefined> {
  return withKnex({ DATABASE_URL: url, DATABASE_SSL_CA: authority }, async (knex) => {
    await knex.raw('select pg_advisory_lock(?)', [migrationLock])
    await knex.migrate.forceFreeMigrationsLock()
    const newer = await findNewer(knex)
    if (newer.length > 0)
      throw new CannotStart(
        `${newer.join(', ')}: of a newer version, which has to undo it before this one can go on`,
      )
    const [, undone] = (await knex.migrate.down()) as [number, string[]]
    return undone[0]
  })
}

/** What `migrate` has done and would do. */
export async function migrationStatus(url: string, authority?: string): Promise<MigrationReport> {
  return withKnex({ DATABASE_URL: url, DATABASE_SSL_CA: authority }, async (knex) => {
    const { names, pending } = await listMigrations(knex)
    return { applied: names.filter(isKnown), pending, newer: names.filter((name) => !isKnown(name)) }
  })
}

function isKnown(name: string): boolean {
  return name in migrations
}

async function listMigrations(knex: Knex): Promise<{ names: string[]; pending: string[] }> {
  const [applied, pending] = (await knex.migrate.list()) as [{ name: string }[], string[]]
  return { names: applied.map(({ name }) => name), pending }
}

async function findNewer(knex: Knex): Promise<string[]> {
  const { names } = await listMigrations(knex)
  return names.filter((name) => !isKnown(name))
}

async function withKnex<T>(address: PostgresAddress, work: (knex: Knex) => Promise<T>): Promise<T> {
  await requireOwnSessions(address).catch((error: unknown) => {
    throw classifyPostgresError(error)
  })
  const knex = createKnex({
    client: 'pg',
    connection: connectionOf(address),
    pool: {
      min: 1,
      max: 1,
      // A migrator whose host is gone must not keep the next from its lock.
      afterCreate: (client: Client, done: (error: Error | null, client: Client) => void) =>
        client.query(giveUpSilentClients, (error) => done(error, client)),
    },
    // It warns, with a stack, of a connection that was not made, and throws that too.
    log: { warn: () => undefined },
    // Processes of the version before go on over a newer version's tables: that is the rollback that docs/upgrade.md names.
    migrations: { migrationSource, tableName: 'schema_migrations', disableMigrationsListValidation: true },
  })
  try {
    return await work(knex)
  } catch (error) {
    throw (await explainMissingRight(address, error)) ?? classifyPostgresError(error)
  } finally {
    await knex.destroy()
  }
}

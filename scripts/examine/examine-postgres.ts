import type { Client } from 'pg'
import { migrationStatus } from '#infra/migrate.ts'
import { databaseRoles } from '#runtime/database-roles.ts'
import { areSessionsShared, requireOwnSessions } from '#runtime/own-sessions.ts'
import { connectDoctor } from './connect-doctor.ts'
import { examineAlertRules } from './examine-alert-rules.ts'
import { examineClock } from './examine-clock.ts'
import { examineFindings } from './examine-findings.ts'
import { examineJudge } from './examine-judge.ts'
import { examineWebhooks } from './examine-webhooks.ts'
import type { System } from './find-system.ts'
import { ok, problem, warning, type Finding } from './finding.ts'

const fewestDays = 3
/** Share of max_connections. */
const maxUsed = 0.8
const oldestEventSeconds = 120

/** Migrations, partitions, roles, connections, keys, work that waits in Postgres, and its clock. */
export async function examinePostgres(system: System): Promise<Finding[]> {
  const { DATABASE_URL, DATABASE_SSL_CA } = system.config
  const sessions = await examineSessions(system)
  // The other checks would also fail for lack of sessions.
  if (sessions.state === 'problem') return [sessions]
  const client = await connectDoctor(system.config)
  try {
    const before = system.now()
    const { rows } = await client.query<{ ms: number }>(
      'select extract(epoch from clock_timestamp()) * 1000 as ms',
    )
    const clock = examineClock('Postgres', Number(rows[0]?.ms), before, system.now())
    const { newer, pending } = await migrationStatus(DATABASE_URL, DATABASE_SSL_CA)
    // The other checks need the tables of these migrations.
    if (pending.length > 0)
      return [
        clock,
        sessions,
        problem('migrations', `not applied: ${pending.join(', ')}`, 'scripts/migrate applies them'),
      ]
    return [
      clock,
      sessions,
      examineNewer(newer),
      ...(await examinePartitions(client)),
      ...(await examineRoles(client, system.config.DATABASE_ROLE_PREFIX)),
      ...(await examineConnections(client)),
      ...(await examineWebhookKeys(client, system)),
      ...(await examineWaiting(client)),
      ...(await examineWebhooks(client)),
      ...(await examineAlertRules(client)),
      ...(await examineFindings(client)),
      ...(await examineJudge(client)),
    ]
  } finally {
    await client.end()
  }
}

function examineNewer(newer: readonly string[]): Finding {
  if (newer.length === 0) return ok('migrations', 'all are applied')
  return warning(
    'migrations',
    `a newer version has applied ${newer.join(', ')}`,
    'after a rollback that is as it should be; else ask with the version that runs',
  )
}

async function examinePartitions(client: Client): Promise<Finding[]> {
  const { rows } = await client.query<{ table: string; days: number }>(
    `with there as materialized (
       select inhparent, to_date(right(relname, 8), 'YYYYMMDD') as day
       from pg_inherits join pg_class on pg_class.oid = inhrelid where relname ~ '_\\d{8}$'
     )
     select parent::text as table, min(n) - 1 as days
     from unnest(array['llm_requests', 'llm_request_bodies', 'request_previews', 'search_signatures', 'safety_scores', 'safety_score_details', 'request_verdicts']::regclass[]) parent,
       generate_series(0, 400) n
     where not exists (
       select from there where inhparent = parent and day = (now() at time zone 'utc')::date + n::integer
     )
     group by 1 order by 1`,
  )
  const remedy = 'sinks make them: docs/runbooks/SluicePartitionsRunOut.md'
  const findings = rows.flatMap(({ table, days }) => {
    if (days < 0) return [problem('partitions', `${table} has no partition for today`, remedy)]
    if (days >= fewestDays) return []
    return [
      (days === 0 ? problem : warning)(
        'partitions',
        `${table} has partitions for ${days} days ahead`,
        remedy,
      ),
    ]
  })
  return findings.length > 0 ? findings : [ok('partitions', `${rows.length} tables by day have theirs ahead`)]
}

async function examineSessions({ config }: System): Promise<Finding> {
  try {
    await requireOwnSessions(config)
    return ok('sessions', 'each connection to Postgres keeps a session of its own')
  } catch (error) {
    if (!areSessionsShared(error)) throw error
    return problem('sessions', error.message, 'docs/operations.md, "What it expects of what it stands on"')
  }
}

async function examineRoles(client: Client, prefix: string): Promise<Finding[]> {
  const { api, operator } = databaseRoles(prefix)
  const roles = [api, operator]
  const { rows } = await client.query<{ role: string; present: boolean; may: boolean | null }>(
    `select role, pg_roles.oid is not null as present,
       case when pg_roles.oid is not null then pg_has_role(current_user, pg_roles.oid, 'SET') end as may
     from unnest($1::text[]) role left join pg_roles on rolname = role`,
    [roles],
  )
  const findings = rows.flatMap(({ role, present, may }) => {
    if (!present) return [problem('roles', `the role ${role} is missing`, 'scripts/migrate makes it')]
    if (may === true) return []
    const remedy = `grant ${role} to the API's login with inherit false, set true (docs/decisions/0008-row-level-security.md)`
    return [problem('roles', `this login may not take the role ${role}`, remedy)]
  })
  return findings.length > 0 ? findings : [ok('roles', `this login may take ${roles.join(' and ')}`)]
}

async function examineConnections(client: Client): Promise<Finding[]> {
  const { rows } = await client.query<{ used: number; most: number }>(
    `select count(*)::integer as used, current_setting('max_connections')::integer as most
     from pg_stat_activity where backend_type = 'client backend'`,
  )
  const { used = 0, most = 0 } = rows[0] ?? {}
  const what = `${used} of ${most} are in use`
  if (used <= most * maxUsed) return [ok('connections', what)]
  return [
    warning('connections', what, 'raise max_connections, or lower DATABASE_POOL_SIZE; docs/operations.md'),
  ]
}

/** A webhook whose secret cannot be opened gets no deliveries. */
async function examineWebhookKeys(client: Client, { config }: System): Promise<Finding[]> {
  const { rows } = await client.query<{ key_id: string; count: number }>(
    `select secret_key_id as key_id, count(*)::integer as count from webhooks where secret_key_id is not null group by 1`,
  )
  const given = new Set(config.BODY_ENCRYPTION_KEYS.map(({ id }) => id))
  const findings = rows
    .filter(({ key_id: id }) => !given.has(id))
    .map(({ key_id: id, count }) =>
      problem(
        'webhook keys',
        `${count} webhooks have secrets sealed with key ${id}, which is not in BODY_ENCRYPTION_KEYS`,
        `put ${id} back into BODY_ENCRYPTION_KEYS behind the first; scripts/keys status says what needs it`,
      ),
    )
  return findings.length > 0 ? findings : [ok('webhook keys', 'every secret of a webhook can be opened')]
}

async function examineWaiting(client: Client): Promise<Finding[]> {
  const { rows } = await client.query<{ letters: number; events: number; seconds: number }>(
    `select (select count(*)::integer from dead_letters where status = 'open') as letters, count(*)::integer as events,
       coalesce(extract(epoch from now() - min(created_at)), 0)::integer as seconds
     from (select created_at from event_outbox where published_at is null order by seq limit 10000) as waiting`,
  )
  const { letters = 0, events = 0, seconds = 0 } = rows[0] ?? {}
  const outbox = `${events} events wait to be published, the oldest for ${seconds} s`
  return [
    letters === 0
      ? ok('dead letters', 'none is open')
      : warning(
          'dead letters',
          `${letters} are open`,
          'scripts/redrive list; docs/runbooks/SluiceDeadLetters.md',
        ),
    seconds <= oldestEventSeconds
      ? ok('outbox', outbox)
      : problem('outbox', outbox, 'docs/runbooks/SluiceOutboxOld.md'),
  ]
}

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { systemClock } from '#runtime/clock.ts'
import { databaseRoles } from '#runtime/database-roles.ts'
import { createLog } from '#runtime/log.ts'
import { messageOf } from '#runtime/errors.ts'
import { createMetrics } from '#runtime/metrics.ts'
import { createPool } from '#runtime/postgres.ts'
import { createSealer } from '#runtime/sealing.ts'
import { idFromUuid, idToUuid, newId } from '#schemas/ids.ts'
import { createKeyUses } from '#http/access/key-uses.ts'
import { inProjectTransaction } from '#http/access/project-transaction.ts'
import { createTestDatabase, randomName, type TestDatabase } from '#tests/support/infrastructure.ts'
import { seedRequest } from '#tests/support/seed-requests.ts'
import { migrate } from './migrate.ts'

let database: TestDatabase
let owner: pg.Pool
let api: pg.Pool
const [ours, theirs] = [newId('project'), newId('project')]

const dependencies = (role: string) => ({
  log: createLog('test', 'silent'),
  metrics: createMetrics(),
  applicationName: 'test',
  role,
})
const poolAs = (role: string) =>
  createPool({ DATABASE_URL: database.url, DATABASE_POOL_SIZE: 2 }, dependencies(role))

beforeAll(async () => {
  database = await createTestDatabase()
  owner = new pg.Pool({ connectionString: database.url, max: 2 })
  api = poolAs('sluice_api')
  for (const projectId of [ours, theirs]) {
    const id = idToUuid(projectId)
    await owner.query(`insert into projects (id, name, created_at) values ($1, 'test', now())`, [id])
    await owner.query(
      `insert into subscriptions (project_id, tier, period_start, period_reset_at, period_anchor) values ($1, 'pro', now(), now(), now())`,
      [id],
    )
    await owner.query(
      `insert into webhooks (id, project_id, url, events, secret_codec, secret_data, created_at, updated_at)
       values ($1, $1, 'https://example.com', '{}', 'none', '', now(), now())`,
      [id],
    )
    await owner.query(
      `insert into webhook_deliveries (id, webhook_id, project_id, event_id, event, event_created_at, data, created_at)
       values ($1, $1, $1, $1, 'threat_detected', now(), '', now())`,
      [id],
    )
    await owner.query(
      'insert into webhook_attempts (delivery_id, number, lease_until, at) values ($1, 1, now(), now())',
      [id],
    )
    await owner.query('insert into webhook_waiting values ($1, $1, 1, 1, null, now())', [id])
    await owner.query(
      `insert into api_keys (id, project_id, name, secret_sha256, last4, created_at) values ($1::uuid, $1, 'x', uuid_send($1), 'abcd', now())`,
      [id],
    )
    await seedRequest(owner, createSealer([]), {
      projectId,
      scores: [{ scorer: 'pii_detection', value: 1, label: 'safe' }],
    })
  }
})

afterAll(async () => {
  await api.end()
  await owner.end()
  await database.drop()
})

/** Tables that the API's role may read, with and without policies. */
async function readableTables(): Promise<{ name: string; secured: boolean; partition: boolean }[]> {
  const { rows } = await owner.query<{ name: string; secured: boolean; partition: boolean }>(
    `select relname as name, relrowsecurity as secured, relispartition as partition from pg_class
     where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace and has_table_privilege('sluice_api', oid, 'select')
     order by relname`,
  )
  return rows
}

const denied = /permission denied/

test('last uses of keys are written in batches, by each process that authenticates, and never moved back', async () => {
  let nowMs = Date.parse('2026-11-21T09:30:00Z')
  const clock = { ...systemClock, now: () => nowMs }
  const keyOf = (projectId: string) => idFromUuid('key', idToUuid(projectId))
  const [one, other] = [0, 0].map(() => createKeyUses({ pool: api, clock, log: createLog('test', 'silent') }))
  one?.note(keyOf(ours))
  nowMs += 60_000
  other?.note(keyOf(ours))
  other?.note(keyOf(theirs))
  await other?.stop()
  await one?.flush()
  const { rows } = await owner.query('select distinct last_used_at from api_keys')
  expect(rows).toEqual([{ last_used_at: new Date(nowMs) }])
})

describe('the role of the API', () => {
  test('cannot bypass row security, and owns nothing', async () => {
    const { rows } = await api.query(
      `select current_user, rolsuper, rolbypassrls, rolcanlogin, row_security_active('llm_requests') as held,
         (select count(*)::integer from pg_class where relowner = pg_roles.oid) as owned
       from pg_roles where rolname = current_user`,
    )
    expect(rows).toEqual([
      {
        current_user: 'sluice_api',
        rolsuper: false,
        rolbypassrls: false,
        rolcanlogin: false,
        held: true,
        owned: 0,
      },
    ])
  })

  test('is refused once it could bypass', async () => {
    const superuser = poolAs(new URL(database.url).username)
    await expect(superuser.query('select 1')).rejects.toThrow('not held by row-level security')
    await superuser.end()
  })

  test('reads only tables with policies or without projects, and no partition', async () => {
    const readable = await readableTables()
    expect(readable.filter(({ secured }) => !secured).map(({ name }) => name)).toEqual([
      'rollup_days',
      'tiers',
    ])
    expect(readable.filter(({ partition }) => partition)).toEqual([])
    await expect(api.query('select from api_keys')).rejects.toThrow(denied)
    const { rows } = await owner.query<{ partition: string }>(
      `select relname as partition from pg_class where relispartition and relkind = 'r' and relname like 'llm_requests_%'`,
    )
    expect(rows.length).toBeGreaterThan(0)
    for (const { partition } of rows)
      await expect(api.query(`select from ${pg.escapeIdentifier(partition)}`)).rejects.toThrow(denied)
  })

  test("sees only one project's rows in a transaction, and none outside", async () => {
    const secured = (await readableTables()).filter((table) => table.secured).map(({ name }) => name)
    expect(secured).toEqual(
      expect.arrayContaining(['llm_requests', 'projects', 'safety_scores', 'webhook_attempts', 'webhooks']),
    )
    const seeded = new Set<string>()
    for (const table of secured) {
      const name = pg.escapeIdentifier(table)
      const all = await owner.query(`select * from ${name}`)
      const own = await inProjectTransaction(api, ours, (client) => client.query(`select * from ${name}`))
      const outside = await api.query(`select * from ${name}`)
      expect([table, outside.rowCount, own.rowCount]).toEqual([table, 0, (all.rowCount ?? 0) / 2])
      if (own.rowCount !== 0) seeded.add(table)
      for (const row of own.rows as Record<string, unknown>[])
        expect([table, Object.values(row).includes(idToUuid(ours))]).toEqual([table, true])
    }
    // With empty tables, a policy that hides everything would pass.
    expect(seeded.size).toBeGreaterThanOrEqual(10)
    expect(seeded).toContain('webhook_waiting')
  })

  test('neither changes nor writes rows of other projects', async () => {
    const attempts = [
      `update projects set name = 'stolen'`,
      `update webhooks set url = 'https://evil.example.com'`,
      'delete from webhook_deliveries',
    ]
    for (const statement of attempts)
      expect((await inProjectTransaction(api, ours, (client) => client.query(statement))).rowCount).toBe(1)
    const { rows } = await owner.query('select name from projects where id = $1', [idToUuid(theirs)])
    expect(rows).toEqual([{ name: 'test' }])
    const planted = inProjectTransaction(api, ours, (client) =>
      client.query(
        `insert into seen_tools (project_id, tool_name, first_seen_at) values ($1, 'planted', now())`,
        [idToUuid(theirs)],
      ),
    )
    await expect(planted).rejects.toThrow(denied)
    const moved = inProjectTransaction(api, ours, (client) =>
      client.query('update webhooks set project_id = $1', [idToUuid(theirs)]),
    )
    await expect(moved).rejects.toThrow('row-level security')
  })

  test('finds the project of a key, and nothing else about keys', async () => {
    const { rows } = await api.query('select * from find_api_key(uuid_send($1::uuid))', [idToUuid(theirs)])
    expect(rows).toMatchObject([{ project_id: idToUuid(theirs), tier: 'pro', scope: 'all' }])
  })
})

test("only these roles may call functions that run with their owner's rights", async () => {
  const { rows } = await owner.query(
    `select proname from pg_proc where prosecdef and pronamespace = 'public'::regnamespace and has_function_privilege('public', oid, 'execute')`,
  )
  expect(rows).toEqual([])
})

test("the operator's role sees every project, by its own policy", async () => {
  const operator = poolAs('sluice_operator')
  const { rows } = await operator.query(
    `select count(*)::integer as projects, row_security_active('projects') as held from projects`,
  )
  await operator.end()
  expect(rows).toEqual([{ projects: 2, held: true }])
})

test('a new table with a project_id is secured by the next migration, one without is closed', async () => {
  await owner.query('create table notes (project_id uuid not null); create table machines (name text)')
  await migrate(database.url)
  await owner.query('insert into notes values ($1), ($2)', [idToUuid(ours), idToUuid(theirs)])
  const seen = await inProjectTransaction(api, ours, (client) => client.query('select from notes'))
  expect([seen.rowCount, (await api.query('select from notes')).rowCount]).toEqual([1, 0])
  await expect(api.query('select from machines')).rejects.toThrow(denied)
})

test('a login without special rights can migrate after the grants that the error names', async () => {
  const name = randomName('login')
  const role = pg.escapeIdentifier(name)
  const prefix = `${name.toLowerCase().replaceAll('-', '_')}_`
  const { api, operator } = databaseRoles(prefix)
  await owner.query(`create role ${role} login password 'secret'`)
  await owner.query(`create database ${role} owner ${role}`)
  const url = new URL(database.url)
  Object.assign(url, { username: name, password: 'secret', pathname: `/${name}` })
  try {
    for (const expected of [api, operator]) {
      const refused = await migrate(url.href, undefined, prefix).then(String, (error: unknown) =>
        messageOf(error),
      )
      expect(refused).toContain(`may not make or take the role ${expected}`)
      const statement = /and then: (grant .* inherit false;)/.exec(refused)?.[1]
      await owner.query(`create role ${expected}`)
      await owner.query(String(statement))
    }
    await migrate(url.href, undefined, prefix)
    const pool = createPool({ DATABASE_URL: url.href, DATABASE_POOL_SIZE: 1 }, dependencies(api))
    const { rows } = await pool.query(`select row_security_active('projects') as held`)
    await pool.end()
    expect(rows).toEqual([{ held: true }])
  } finally {
    await owner.query(`drop database ${role} with (force)`)
    for (const one of [role, api, operator]) await owner.query(`drop role if exists ${one}`)
  }
})

test('databases of one cluster can be migrated at once, though they share the roles', async () => {
  const others = await Promise.all([createTestDatabase(), createTestDatabase()])
  try {
    await Promise.all([
      ...others.map(({ url }) => migrate(url)),
      migrate(database.url),
      migrate(database.url),
    ])
  } finally {
    await Promise.all(others.map((other) => other.drop()))
  }
})

import { execFile, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import pg from 'pg'
import type { Log } from '#runtime/log.ts'
import { requireMigration } from '#runtime/require-migration.ts'
import { newestMigration } from '#schemas/newest-migration.ts'
import { expectFile } from '#tests/support/documented-page.ts'
import { createTestDatabase, type TestDatabase } from '#tests/support/infrastructure.ts'
import { postgresBehindTls } from '#tests/support/postgres-behind-tls.ts'
import { until } from '#tests/support/until.ts'
import { migrate, migrationStatus, undoLast } from './migrate.ts'
import { secureRows } from './row-security.ts'

const run = promisify(execFile)

let database: TestDatabase
let client: pg.Client

beforeAll(async () => {
  database = await createTestDatabase()
  client = new pg.Client({ connectionString: database.url })
  await client.connect()
})

afterAll(async () => {
  await client.end()
  await database.drop()
})

/** Every column, index, constraint, function, policy and grant, as text. */
async function describeSchema(): Promise<string[]> {
  const { rows } = await client.query<{ line: string }>(`
    select concat_ws(' ', 'column', table_name, column_name, data_type, is_nullable, column_default) as line
      from information_schema.columns where table_schema = 'public'
    union all select 'index ' || indexdef from pg_indexes where schemaname = 'public'
    union all select concat_ws(' ', 'constraint', conrelid::regclass, pg_get_constraintdef(oid)) from pg_constraint
      where connamespace = 'public'::regnamespace
    union all select 'function ' || pg_get_functiondef(oid) from pg_proc where pronamespace = 'public'::regnamespace
    union all select concat_ws(' ', 'policy', tablename, policyname, roles, qual) from pg_policies where schemaname = 'public'
    union all select concat_ws(' ', 'grant', grantee, table_name, privilege_type) from information_schema.role_table_grants
      where table_schema = 'public'
    order by 1`)
  return rows.map(({ line }) => line)
}

/** What Postgres itself holds rows to, and who may do what: keys, checks, triggers, policies, grants and functions that act with their owner's rights. */
async function describeGuards(): Promise<string> {
  const { rows } = await client.query<{ line: string }>(`
    with own as (
      select * from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
        and relname not like 'schema\\_migrations%'
    )
    select line from (
    select relname || ': ' || pg_get_constraintdef(k.oid) as line from own join pg_constraint k on k.conrelid = own.oid and k.contype in ('p', 'u', 'f', 'c')
    union all select relname || ': ' || pg_get_triggerdef(t.oid) from own join pg_trigger t on t.tgrelid = own.oid and not tgisinternal
    union all select concat(tablename, ': ', policyname, ' of ', roles, ' where ', qual, with_check) from pg_policies where schemaname = 'public'
    union all select concat(relname, ': ', grantee::regrole, ' may ', string_agg(lower(privilege_type), ', ' order by privilege_type))
      from own cross join aclexplode(relacl) where grantee <> relowner group by relname, grantee
    union all select concat('function ', p.oid::regprocedure, ': ', string_agg(coalesce(nullif(grantee, 0)::regrole::text, 'everybody'), ', ' order by grantee))
      from pg_proc p cross join aclexplode(coalesce(proacl, acldefault('f', proowner))) where prosecdef and pronamespace = 'public'::regnamespace and grantee <> proowner group by p.oid
    ) guards order by line collate "C"`)
  return rows.map(({ line }) => `${line}\n`).join('')
}

async function undoTo(name: string | undefined): Promise<void> {
  while ((await migrationStatus(database.url)).applied.at(-1) !== name) await undoLast(database.url)
}

test('infra/guards.txt says what Postgres itself holds rows to, and who may do what', async () => {
  expectFile(
    'infra/guards.txt',
    `Made from a migrated database; UPDATE_DOCS=1 before infra/migrate.integration.test.ts writes it anew.\n\n${await describeGuards()}`,
  )
})

test('every migration can be undone, and what is applied again is what was there; two migrators at once apply each once', async () => {
  const before = await describeSchema()
  const { applied } = await migrationStatus(database.url)
  expect(await migrate(database.url)).toEqual({ applied: [], pending: [], newer: [] })
  await undoTo(undefined)
  expect(await undoLast(database.url)).toBeUndefined()
  const left = await client.query<{ relname: string }>(
    `select relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'S') and relname not like 'schema_migrations%'`,
  )
  expect(left.rows).toEqual([])
  expect(await migrationStatus(database.url)).toEqual({ applied: [], pending: applied, newer: [] })
  const both = await Promise.all([migrate(database.url), migrate(database.url)])
  expect(both.map((report) => report.applied.length).toSorted((one, other) => one - other)).toEqual([
    0,
    applied.length,
  ])
  expect(await describeSchema()).toEqual(before)
})

test('migration 0050 brings projects back that a wrong clock had moved years ahead, counted from their anchor, and no others', async () => {
  await undoTo('0049-periods-by-postgres')
  const [moved, right] = [randomUUID(), randomUUID()]
  await client.query(`insert into projects (id, name, created_at) select unnest($1::uuid[]), 'p', now()`, [
    [moved, right],
  ])
  await client.query(
    `insert into subscriptions (project_id, tier, requests_this_period, period_start, period_reset_at, period_anchor) values
      ($1, 'free', 7, now() + interval '12 years', now() + interval '12 years 1 month', now() - interval '32 days'),
      ($2, 'free', 7, now() - interval '1 day', now() + interval '20 days', now() - interval '1 day')`,
    [moved, right],
  )
  await migrate(database.url)
  const { rows } = await client.query(
    `select s.requests_this_period::integer as requests, s.period_start between now() - interval '5 days' and now() as is_now,
       s.period_reset_at between now() + interval '20 days' - interval '1 hour' and now() + interval '31 days' as ends_soon
     from unnest($1::uuid[]) with ordinality project (id, place) cross join lateral roll_period(id, now()) s order by place`,
    [[moved, right]],
  )
  const now = { is_now: true, ends_soon: true }
  expect(rows).toEqual([
    { requests: 0, ...now },
    { requests: 7, ...now },
  ])
})

test('a service starts over its own migrations and newer ones, and says of an older database or an empty one what to do', async () => {
  const logged: string[] = []
  const log = { warn: (_fields: unknown, text: string) => logged.push(text) } as unknown as Log
  const look = (url = database.url) => requireMigration(newestMigration)({ DATABASE_URL: url }, log)
  const { applied } = await migrationStatus(database.url)
  expect(applied.at(-1)).toBe(newestMigration)
  await client.query(
    "insert into schema_migrations (name, batch, migration_time) values ('9999-newer', 999, now())",
  )
  await look()
  await client.query("delete from schema_migrations where name = '9999-newer'")
  await undoLast(database.url)
  await expect(look()).rejects.toThrow(
    `the database is older than this program, it lacks migration ${newestMigration}: run scripts/migrate`,
  )
  await migrate(database.url)
  await client.query('alter table schema_migrations rename to away')
  await expect(look()).rejects.toThrow('the database is older than this program')
  await client.query('alter table away rename to schema_migrations')
  expect(logged).toEqual([])
  await look('postgres://nobody@127.0.0.1:1/nowhere')
  expect(logged).toEqual([`whether the database has migration ${newestMigration} could not be seen`])
})

test('the version before goes on over what a newer one has applied, and does not undo what stands before it', async () => {
  const { applied } = await migrationStatus(database.url)
  await client.query(
    "insert into schema_migrations (name, batch, migration_time) values ('9999-newer', 999, now())",
  )
  expect(await migrate(database.url)).toEqual({ applied: [], pending: [], newer: ['9999-newer'] })
  await expect(undoLast(database.url)).rejects.toThrow('9999-newer: of a newer version')
  await client.query("delete from schema_migrations where name = '9999-newer'")
  expect(await migrationStatus(database.url)).toEqual({ applied, pending: [], newer: [] })
})

test('a migrator that is killed half-way has applied nothing, and the next one applies all', async () => {
  const before = await describeSchema()
  await undoTo('0009-gateways')
  // 0011 has to wait: it wants an index on a table that is locked.
  await client.query('begin; lock table webhook_deliveries in access exclusive mode')
  const script = `import { migrate } from ${JSON.stringify(join(import.meta.dirname, 'migrate.ts'))}; await migrate(process.env.DATABASE_URL)`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    env: { ...process.env, DATABASE_URL: database.url },
    stdio: 'ignore',
  })
  const isWaiting = async () =>
    (
      await client.query(
        `select from pg_locks where not granted and relation = 'webhook_deliveries'::regclass`,
      )
    ).rowCount === 1
  await until(isWaiting)
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect((await migrationStatus(database.url)).applied.at(-1)).toBe('0009-gateways')
  await client.query('rollback')
  const { applied } = await migrate(database.url)
  expect(applied[0]).toBe('0010-rollups')
  expect(await describeSchema()).toEqual(before)
})

test('a Postgres that takes nothing but TLS is migrated by those who are told its authority, and by nobody else', async () => {
  const [secure, other] = [await postgresBehindTls(database.url), await postgresBehindTls(database.url)]
  try {
    expect(await undoLast(secure.url, secure.authority)).toBeDefined()
    const { pending } = await migrationStatus(secure.url, secure.authority)
    expect(pending).toHaveLength(1)
    const environment = {
      ...process.env,
      DATABASE_URL: secure.url,
      DATABASE_SSL_CA: secure.authority,
      KAFKA_BROKERS: 'unused:1',
      SCHEMA_REGISTRY_URL: 'http://unused',
    }
    const script = join(import.meta.dirname, '..', 'scripts', 'migrate.ts')
    const told = await run(process.execPath, [script, '--status'], { env: environment })
    expect(told.stdout).toMatch(new RegExp(`^applied  0001-projects\n[^]*\npending  ${pending[0] ?? ''}\n$`))
    // By another way than migrate, whose library writes failures to the console.
    for (const DATABASE_SSL_CA of [undefined, other.authority])
      await expect(secureRows({ DATABASE_URL: secure.url, DATABASE_SSL_CA })).rejects.toThrow()
    expect(await migrate(secure.url, secure.authority)).toMatchObject({ applied: pending })
  } finally {
    await Promise.all([secure.stop(), other.stop()])
  }
})

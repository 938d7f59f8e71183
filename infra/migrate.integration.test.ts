import { execFile, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { once } from 'node:events'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import pg from 'pg'
import type { Log } from '#runtime/log.ts'
import { requireMigration } from '#runtime/require-migration.ts'
import { idToUuid, newId } from '#schemas/ids.ts'
import { migrationNames, newestMigration } from '#schemas/newest-migration.ts'
import { expectFile } from '#tests/support/documented-page.ts'
import { createTestDatabase, type TestDatabase } from '#tests/support/infrastructure.ts'
import { postgresBehindTls } from '#tests/support/postgres-behind-tls.ts'
import { until } from '#tests/support/until.ts'
import { describeCatalogue } from './catalogue.ts'
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

/** What is defined, who may do what included. */
async function describeSchema(): Promise<string[]> {
  return [...(await readCatalogue()), await describeGuards()]
}

const readCatalogue = () => describeCatalogue((sql) => client.query<{ line: string }>(sql))

/**
 * The catalogue's guards: keys, checks, triggers, policies, grants and functions with their owner's rights.
 */
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
    `Made from a migrated database; UPDATE_DOCS=1 before infra/migrate.integration.test.ts rewrites it.\n\n${await describeGuards()}`,
  )
})

/** The last of the migrations that replace those before 0.1.0. */
const lastReplacing = '0009-erasures-and-dead-letters'

test('a new database has the catalogue of one at 0052, which 44 migrations had made', async () => {
  await undoTo(lastReplacing)
  const recorded = readFileSync(join(import.meta.dirname, 'catalogue-0052.txt'), 'utf8')
  expect((await readCatalogue()).map((line) => `${line}\n`).join('')).toBe(recorded)
  await migrate(database.url)
})

/** Makes the database one of the version before 0.1.0, as far as its table of migrations says. */
async function pretendBefore(names: readonly string[]): Promise<void> {
  await client.query('delete from schema_migrations')
  await client.query(
    'insert into schema_migrations (name, batch, migration_time) select unnest($1::text[]), 1, now()',
    [names],
  )
}

const tableOfMigrations = async () =>
  (await client.query<{ name: string }>('select name from schema_migrations order by id')).rows.map(
    ({ name }) => name,
  )

test('a database at 0052 is taken over with its rows, and only its table of migrations is written', async () => {
  const before = await describeSchema()
  await undoTo(lastReplacing)
  const project = idToUuid(newId('project'))
  await client.query(`insert into projects (id, name, created_at) values ($1, 'kept', now())`, [project])
  await client.query(`select ensure_day_partitions(date '2026-11-28')`)
  await client.query(
    `insert into llm_requests (project_id, id, created_at, source, model, zero_content_retention, received_at)
       values ($1, $1, '2026-11-28T12:00:00Z', 'api', 'm', false, now())`,
    [project],
  )
  await pretendBefore(['0001-projects', '0002-requests', '0052-open-checkouts'])
  const writtenBy = () =>
    client.query(`select xmin::text, id from projects union all select xmin::text, id from llm_requests`)
  const rows = (await writtenBy()).rows
  expect(await migrationStatus(database.url)).toEqual({ applied: [], pending: migrationNames, newer: [] })
  await expect(undoLast(database.url)).rejects.toThrow('run scripts/migrate first')
  expect(await migrate(database.url)).toMatchObject({ tookOver: true, newer: [] })
  expect(await tableOfMigrations()).toEqual(migrationNames)
  expect((await writtenBy()).rows).toEqual(rows)
  expect(rows).toHaveLength(2)
  expect(await describeSchema()).toEqual(before)
})

test('a database before 0052, or one that lacks what 0052 had, is refused with what to do and left as it is', async () => {
  await undoTo(lastReplacing)
  const older = ['0001-projects', '0046-detached-day-tables']
  await pretendBefore(older)
  await expect(migrate(database.url)).rejects.toThrow(
    'the database stands at migration 0046-detached-day-tables, and only one at 0052-open-checkouts can be taken over: run scripts/migrate of commit 9807f407 first',
  )
  expect(await tableOfMigrations()).toEqual(older)
  const last = ['0001-projects', '0052-open-checkouts']
  await pretendBefore(last)
  await client.query('alter table webhooks alter column url drop not null; drop index webhooks_project')
  await expect(migrate(database.url)).rejects.toThrow(
    'but lacks of it: column webhooks 3 url text not null; index CREATE INDEX webhooks_project ON webhooks',
  )
  expect(await tableOfMigrations()).toEqual(last)
  await client.query('alter table webhooks alter column url set not null')
  await client.query('create index webhooks_project on webhooks (project_id, created_at)')
  // What operators add or tune is no obstacle.
  await client.query('create index own on projects (name); alter table projects set (fillfactor = 90)')
  expect(await migrate(database.url)).toMatchObject({ tookOver: true })
  await client.query('drop index own; alter table projects reset (fillfactor)')
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
  await undoTo('0005-events-and-webhooks')
  // 0006 is applied, and 0007 waits: it references a table that is locked.
  await client.query('begin; lock table projects in access exclusive mode')
  const script = `import { migrate } from ${JSON.stringify(join(import.meta.dirname, 'migrate.ts'))}; await migrate(process.env.DATABASE_URL)`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    env: { ...process.env, DATABASE_URL: database.url },
    stdio: 'ignore',
  })
  const isWaiting = async () =>
    (await client.query(`select from pg_locks where not granted and relation = 'projects'::regclass`))
      .rowCount === 1
  await until(isWaiting)
  child.kill('SIGKILL')
  await once(child, 'exit')
  expect((await migrationStatus(database.url)).applied.at(-1)).toBe('0005-events-and-webhooks')
  await client.query('rollback')
  const { applied } = await migrate(database.url)
  expect(applied[0]).toBe('0006-rollups')
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
    expect(told.stdout).toMatch(
      new RegExp(`^applied  0001-projects-and-keys\n[^]*\npending  ${pending[0] ?? ''}\n$`),
    )
    // By another way than migrate, whose library writes failures to the console.
    for (const DATABASE_SSL_CA of [undefined, other.authority])
      await expect(secureRows({ DATABASE_URL: secure.url, DATABASE_SSL_CA })).rejects.toThrow()
    expect(await migrate(secure.url, secure.authority)).toMatchObject({ applied: pending })
  } finally {
    await Promise.all([secure.stop(), other.stop()])
  }
})

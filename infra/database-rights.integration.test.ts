import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { databaseRoles } from '#runtime/database-roles.ts'
import { messageOf } from '#runtime/errors.ts'
import { createLog } from '#runtime/log.ts'
import { requireMigration } from '#runtime/require-migration.ts'
import { newestMigration } from '#schemas/newest-migration.ts'
import { randomName, testInfrastructure } from '#tests/support/infrastructure.ts'
import { startApi } from '#tests/support/start-api.ts'
import { migrate } from './migrate.ts'

let admin: pg.Pool
const made = { databases: [] as string[], roles: [] as string[] }

/** A database and a login that owns it without further rights, as managed servers provide it. */
interface Installation {
  url: string
  login: string
  rolePrefix: string
  /** Runs a statement in this database as the server's administrator. */
  administer(statement: string): Promise<unknown>
}

beforeAll(() => {
  admin = new pg.Pool({ connectionString: testInfrastructure().postgresUrl, max: 2 })
})
afterEach(async () => {
  for (const database of made.databases.splice(0)) await admin.query(`drop database ${database} with (force)`)
  for (const role of made.roles.splice(0)) await admin.query(`drop role if exists ${role}`)
})
afterAll(() => admin.end())

async function createInstallation(rolePrefix: string): Promise<Installation> {
  const login = randomName('owner').toLowerCase().replaceAll('-', '_')
  await admin.query(`create role ${login} login createrole password 'secret'`)
  await admin.query(`create database ${login} owner ${login}`)
  made.databases.push(login)
  made.roles.push(...rolesOf(rolePrefix), login)
  const url = new URL(testInfrastructure().postgresUrl)
  url.pathname = `/${login}`
  const administer = (statement: string) => ask(url.href, statement)
  const own = Object.assign(new URL(url), { username: login, password: 'secret' })
  return { url: own.href, login, rolePrefix, administer }
}

const rolesOf = (prefix: string): string[] => [databaseRoles(prefix).api, databaseRoles(prefix).operator]
const prefixOf = () =>
  `${randomName('p')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '')}_`
const migrateIt = ({ url, rolePrefix }: Installation) => migrate(url, undefined, rolePrefix)
const refusalOf = (installation: Installation) =>
  migrateIt(installation).then(() => 'nothing was refused', messageOf)

async function ask(url: string, statement: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return await client.query(statement)
  } finally {
    await client.end()
  }
}

/** The real API on it logs a call and lists the call's project. */
async function expectServed({ url, rolePrefix }: Installation): Promise<void> {
  await requireMigration(newestMigration)({ DATABASE_URL: url }, createLog('test', 'silent'))
  const api = await startApi({ DATABASE_URL: url, DATABASE_ROLE_PREFIX: rolePrefix })
  try {
    const { key } = await api.createProject()
    expect(await api.call('GET', '/api/requests', { key })).toMatchObject({ status: 200 })
  } finally {
    await api.stop()
  }
}

describe('an owner without rights on the schema public', () => {
  async function createClosed(): Promise<Installation> {
    const closed = await createInstallation(prefixOf())
    await closed.administer(
      'alter schema public owner to current_user; revoke all on schema public from public',
    )
    return closed
  }

  test('gets the grants in the error, and with them migrates and serves', async () => {
    const closed = await createClosed()
    const grant = `grant usage, create on schema public to ${closed.login};`
    expect(await refusalOf(closed)).toContain(
      `the login ${closed.login} may not make tables in the schema public; as its owner: ${grant}`,
    )
    await closed.administer(grant)
    const roles = `${closed.rolePrefix}sluice_api, ${closed.rolePrefix}sluice_operator`
    const use = `grant usage on schema public to ${roles};`
    expect(await refusalOf(closed)).toBe(
      `Postgres: the roles of the API may not use the schema public; as its owner: ${use}`,
    )
    await closed.administer(use)
    await migrateIt(closed)
    await expectServed(closed)
  })

  test('creates its own schema with the statements of the error, and migrates and serves there', async () => {
    const closed = await createClosed()
    const [, statements = ''] = /as the owner of the database: (.*)$/.exec(await refusalOf(closed)) ?? []
    await ask(closed.url, statements)
    await migrateIt(closed)
    const { rows } = await ask(
      closed.url,
      `select distinct schemaname from pg_tables where schemaname !~ '^(pg_|information)'`,
    )
    expect(rows).toEqual([{ schemaname: 'sluice' }])
    await expectServed(closed)
  })
})

describe('two installations on one server', () => {
  test('work with separate roles, and the logins of one read nothing of the other', async () => {
    const [one, other] = [await createInstallation(prefixOf()), await createInstallation(prefixOf())]
    await Promise.all([one, other].map(migrateIt))
    await expectServed(one)
    await expectServed(other)
    const stranger = Object.assign(new URL(other.url), { username: one.login })
    for (const statement of [
      'select from projects',
      'select from audit_log',
      `select find_api_key('\\x00')`,
      `set role ${other.rolePrefix}sluice_operator`,
      `set role ${one.rolePrefix}sluice_operator; select from projects`,
      `set role ${one.rolePrefix}sluice_api; select from llm_requests`,
    ])
      await expect(ask(stranger.href, statement)).rejects.toMatchObject({ code: '42501' })
  })

  test("cannot share roles, unless neither may connect to the other's database", async () => {
    const prefix = prefixOf()
    const [one, other] = [await createInstallation(prefix), await createInstallation(prefix)]
    await migrateIt(one)
    const { login } = other
    for (const role of [`${prefix}sluice_api`, `${prefix}sluice_operator`])
      await admin.query(`grant ${role} to ${login} with inherit false, set true`)
    expect(await refusalOf(other)).toContain(
      `is that of the installation in the database ${one.login} too, and by it the login`,
    )
    for (const { login: database } of [one, other])
      await admin.query(`revoke connect on database ${database} from public`)
    await migrateIt(other)
    await expectServed(other)
    // An existing installation is not refused.
    await admin.query(`grant connect on database ${one.login} to public`)
    expect(await migrateIt(other)).toMatchObject({ applied: [] })
  })
})

test('a new prefix moves the rights from the old roles to the new ones', async () => {
  const before = await createInstallation(prefixOf())
  await migrateIt(before)
  const after = { ...before, rolePrefix: prefixOf() }
  made.roles.unshift(...rolesOf(after.rolePrefix))
  await migrateIt(after)
  await expectServed(after)
  const { rows } = await ask(
    after.url,
    `select relname from pg_class where relacl::text like '%${before.rolePrefix}%'
     union all select proname from pg_proc where proacl::text like '%${before.rolePrefix}%'
     union all select polname from pg_policy where '${before.rolePrefix}sluice_api'::regrole = any (polroles)`,
  )
  expect(rows).toEqual([])
})

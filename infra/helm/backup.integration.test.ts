import { execFile, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { Client } from 'pg'
import { unprivilegedAccount, type Account } from '#infra/embedded/unprivileged-account.ts'
import { messageOf } from '#runtime/errors.ts'
import { createTestDatabase, type TestDatabase } from '../../tests/support/infrastructure.ts'

// Needs pg_dump and a whole server, both of the tests' version, on PATH: older ones cannot read it. Without
// them these tests are skipped and counted.
const found = spawnSync('pg_dump', ['--version'], { encoding: 'utf8' })
const hasTools = found.error === undefined && Number(/ (\d+)\./.exec(found.stdout)?.[1] ?? 0) >= 18
const withTools = hasTools ? test : test.skip

const run = promisify(execFile)
let database: TestDatabase
let account: Account | undefined
let directory: string
let roles: string

beforeAll(async () => {
  if (!hasTools) return
  database = await createTestDatabase()
  account = await unprivilegedAccount()
  directory = mkdtempSync(join(tmpdir(), 'sluice-backup-'))
  cpSync(join(import.meta.dirname, 'files', 'backup'), join(directory, 'scripts'), { recursive: true })
  chmodSync(directory, 0o755)
  for (const name of ['backup', 'scratch']) {
    mkdirSync(join(directory, name))
    if (account) chownSync(join(directory, name), account.uid, account.gid)
  }
  const client = new Client({ connectionString: database.url })
  await client.connect()
  const { rows } = await client.query<{ rolname: string }>(
    `select rolname from pg_roles where rolname like '%sluice\\_%'`,
  )
  await client.end()
  roles = rows.map(({ rolname }) => rolname).join(' ')
})

afterAll(async () => {
  if (!hasTools) return
  await database.drop()
  rmSync(directory, { recursive: true })
})

/** A script as the chart's CronJob runs it: its output, or why it failed. */
async function runScript(name: string, variables: Record<string, string>): Promise<string> {
  const { PATH = '' } = process.env
  const env = {
    PATH,
    BACKUP_DIR: join(directory, 'backup'),
    SCRATCH_DIR: join(directory, 'scratch'),
    ...variables,
  }
  const options = { env, cwd: '/', ...account }
  try {
    const { stdout: output } = await run('sh', [join(directory, 'scripts', name)], options)
    return output.trim()
  } catch (error) {
    return `failed: ${messageOf(error)}`
  }
}

const backUp = (variables: Record<string, string> = { DATABASE_URL: database.url }) =>
  runScript('backup.sh', { BACKUP_KEEP: '2', ...variables })
const restore = (variables: Record<string, string> = {}) =>
  runScript('restore-test.sh', { BACKUP_MAX_AGE_HOURS: '26', BACKUP_ROLES: roles, ...variables })
const dumps = () => readdirSync(join(directory, 'backup')).sort()

withTools('without a backup the restore test fails', async () => {
  expect(await restore()).toContain('no backup in')
})

withTools('a backup restores; by a URL, and by host, user and password', async () => {
  expect(await backUp()).toMatch(/^sluice-\S+\.dump: \d{5,} bytes$/)
  expect(await restore()).toMatch(/^sluice-\S+\.dump restores: [1-9]\d* migrations, 0 calls$/)
  for (const name of dumps()) rmSync(join(directory, 'backup', name))

  const url = new URL(database.url)
  const variables = {
    DATABASE_HOST: url.hostname,
    DATABASE_PORT: url.port,
    DATABASE_NAME: url.pathname.slice(1),
    DATABASE_USER: decodeURIComponent(url.username),
    DATABASE_PASSWORD: decodeURIComponent(url.password),
  }
  expect(await backUp(variables)).toMatch(/ bytes$/)
  expect(await restore()).toContain('restores: ')
  expect(readdirSync(join(directory, 'scratch'))).toEqual(['postgres.log'])
})

withTools('the newest are kept; what a failed run began is not taken for a backup', async () => {
  const old = ['sluice-2020-01-01T000000Z.dump', 'sluice-2020-01-02T000000Z.dump']
  for (const name of old) writeFileSync(join(directory, 'backup', name), '')
  const before = dumps()
  expect(await backUp({ DATABASE_URL: `${database.url}-absent` })).toMatch(/^failed: /)
  expect(dumps()).toEqual(before)
  expect(await backUp()).toContain(`${old[1]}: deleted`)
  expect(dumps()).toHaveLength(2)
  expect(dumps()).not.toContain(old[0])
})

withTools('an old backup, a broken one, and one whose roles are missing fail the restore test', async () => {
  expect(await restore({ BACKUP_ROLES: '' })).toMatch(/^failed: [^]*role ".*" does not exist/)
  const newest = join(directory, 'backup', dumps().at(-1) ?? '')
  const old = new Date(Date.now() - 27 * 3_600_000)
  utimesSync(newest, old, old)
  expect(await restore()).toContain('is older than 26 hours')
  writeFileSync(join(directory, 'backup', 'sluice-2999-01-01T000000Z.dump'), 'PGDMP')
  expect(await restore()).toMatch(/^failed: [^]*pg_restore: error/)
})

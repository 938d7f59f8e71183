import { afterAll, beforeAll, expect, test } from '@jest/globals'
import pg from 'pg'
import { systemClock } from '#runtime/clock.ts'
import { parseKeys } from '#runtime/encryption-keys.ts'
import { messageOf } from '#runtime/errors.ts'
import { createLog } from '#runtime/log.ts'
import { createMetrics } from '#runtime/metrics.ts'
import { createPool } from '#runtime/postgres.ts'
import { createSealer } from '#runtime/sealing.ts'
import { hashOfKey } from '#http/access/credentials.ts'
import { createPasswordHasher } from '../people/hash-password.ts'
import { createCheckWebhook } from '../webhooks/check-webhook.ts'
import { createTestDatabase } from '#tests/support/infrastructure.ts'
import { applyInitFile } from './apply-init-file.ts'
import { parseInitFile } from './init-file.ts'

const keyOf = (digit: string) => `svc_ci_${digit.repeat(48)}`
const sealer = createSealer(parseKeys(`k1:${Buffer.alloc(32, 7).toString('base64')}`, () => undefined))
const hasher = createPasswordHasher()
let pool: pg.Pool
let superuser: pg.Pool
let stop: () => Promise<void>

beforeAll(async () => {
  const database = await createTestDatabase()
  const log = createLog('init-test', 'silent')
  pool = createPool(
    { DATABASE_URL: database.url, DATABASE_POOL_SIZE: 4 },
    { log, metrics: createMetrics(), applicationName: 'init-test', role: 'sluice_operator' },
  )
  superuser = new pg.Pool({ connectionString: database.url, max: 2 })
  stop = async () => {
    await Promise.all([pool.end(), superuser.end()])
    await database.drop()
  }
})
afterAll(() => stop())

async function apply(
  declared: object,
  resolveHost = () => Promise.resolve(['93.184.216.34']),
): Promise<void> {
  await applyInitFile(
    parseInitFile(JSON.stringify(declared), {}),
    {
      pool,
      sealer,
      hasher,
      checkWebhook: createCheckWebhook({ insecureHosts: new Set(), ports: new Set([443]) }, resolveHost),
      defaultTier: 'enterprise',
      canMask: false,
      log: createLog('init-test', 'silent'),
      clock: systemClock,
    },
    new AbortController().signal,
  )
}

const tables = [
  'projects',
  'subscriptions',
  'declared_projects',
  'api_keys',
  'webhooks',
  'people',
  'people_projects',
  'audit_log',
]

/** All rows that the file may make or change, as text. */
async function snapshot(): Promise<Record<string, string[]>> {
  const entries = await Promise.all(
    tables.map(async (table) => {
      const { rows } = await superuser.query<{ row: string }>(
        `select t::text as row from ${table} t order by 1`,
      )
      return [table, rows.map(({ row }) => row)] as const
    }),
  )
  return Object.fromEntries(entries)
}

async function actions(): Promise<(string | null)[][]> {
  const { rows } = await superuser.query<{ action: string; actor_kind: string; actor_name: string | null }>(
    'select action, actor_kind, actor_name from audit_log order by at, id',
  )
  return rows.map((row) => [row.action, row.actor_kind, row.actor_name])
}

const webhook = {
  url: 'https://hooks.example.com/a',
  events: ['threat_detected'],
  filters: { severity: ['high', 'critical'] },
  secret: 'a-secret-of-the-receiver-1',
}
const declared = {
  projects: [
    {
      ref: 'payments',
      name: 'Payments',
      retention_days: 30,
      metadata_keys: ['team', 'country'],
      keys: [
        { name: 'gateway', key: keyOf('a') },
        { name: 'agents', scope: 'ingest', key: keyOf('b'), expires_at: '2999-01-01' },
      ],
      webhooks: [webhook],
    },
    { ref: 'search', name: 'Search' },
  ],
  people: [
    { login: 'Root@example.com', name: 'Root', role: 'admin', initial_password: 'a long first password' },
    { login: 'ana', name: 'Ana', role: 'analyst', projects: ['payments'] },
  ],
}

test('what is declared exists; a second time nothing changes; each change is in the audit log', async () => {
  await apply(declared)
  const first = await snapshot()
  expect(Object.entries(first).map(([table, rows]) => [table, rows.length])).toEqual([
    ['projects', 2],
    ['subscriptions', 2],
    ['declared_projects', 2],
    ['api_keys', 2],
    ['webhooks', 1],
    ['people', 2],
    ['people_projects', 1],
    ['audit_log', 7],
  ])
  expect(new Set((await actions()).map(([, kind, name]) => `${kind} ${name}`))).toEqual(
    new Set(['operator init file']),
  )
  expect(JSON.stringify(first)).not.toMatch(/a-secret-of|a long first|aaaaaaaa/)
  const { rows } = await superuser.query<{ label: string; last4: string; key: string; scope: string }>(
    `select label, last4, scope, encode(secret_sha256, 'hex') as key from api_keys order by name desc`,
  )
  expect(rows).toEqual([
    { label: 'ci', last4: 'aaaa', scope: 'all', key: hashOfKey(keyOf('a'))?.toString('hex') },
    { label: 'ci', last4: 'bbbb', scope: 'ingest', key: hashOfKey(keyOf('b'))?.toString('hex') },
  ])
  const stored = await superuser.query<{ password_hash: string }>(
    "select password_hash from people where login = 'root@example.com'",
  )
  expect(await hasher.verify('a long first password', stored.rows[0]?.password_hash)).toBe(true)

  await apply(declared)
  expect(await snapshot()).toEqual(first)
})

test('a changed file changes what it names, and leaves alone what it does not', async () => {
  const before = await snapshot()
  // Somebody renames a project, sets a quota warning and their own password, and makes a key.
  await superuser.query(
    `update projects set name = 'Renamed', quota_warning_percent = 80 where name = 'Payments'`,
  )
  const password = await hasher.hash('a password of her own')
  await superuser.query(`update people set password_hash = $1 where login = 'root@example.com'`, [password])
  await apply({
    projects: [
      {
        ref: 'payments',
        name: 'Payments',
        retention_days: 7,
        keys: [{ name: 'agents of today', scope: 'ingest', key: keyOf('b') }],
        webhooks: [{ ...webhook, enabled: false, secret: 'a-secret-of-the-receiver-2' }],
      },
    ],
    people: [{ login: 'ana', name: 'Ana', role: 'viewer', disabled: true }],
  })
  const { rows } = await superuser.query<object>(
    `select p.name, p.retention_days, p.quota_warning_percent, jsonb_array_length(p.metadata_keys) as keys,
       w.enabled, w.filters, w.previous_secret_until > now() + interval '23 hours' as overlaps
     from projects p join webhooks w on w.project_id = p.id`,
  )
  expect(rows).toEqual([
    {
      name: 'Payments',
      retention_days: 7,
      quota_warning_percent: 80,
      keys: 2,
      enabled: false,
      filters: { severity: ['high', 'critical'] },
      overlaps: true,
    },
  ])
  const keys = await superuser.query<object>(
    'select name, expires_at is null as lasts from api_keys order by 1',
  )
  expect(keys.rows).toEqual([
    { name: 'agents of today', lasts: false },
    { name: 'gateway', lasts: true },
  ])
  const people = await superuser.query<object>(
    `select login, role, disabled_at is not null as disabled, password_hash = $1 as own,
       (select count(*)::integer from people_projects where person_id = people.id) as projects
     from people order by 1`,
    [password],
  )
  expect(people.rows).toEqual([
    { login: 'ana', role: 'viewer', disabled: true, own: null, projects: 1 },
    { login: 'root@example.com', role: 'admin', disabled: false, own: true, projects: 0 },
  ])
  const added = (await actions()).slice(before['audit_log']?.length)
  expect(added.map(([action]) => action).sort()).toEqual([
    'key.changed',
    'person.changed',
    'project.changed',
    'webhook.changed',
    'webhook.secret_rotated',
  ])
})

test('two at once make everything once', async () => {
  const other = {
    projects: [
      { ref: 'twice', name: 'Twice', keys: [{ name: 'one', key: keyOf('c') }], webhooks: [webhook] },
    ],
    people: [{ login: 'twice', name: 'Twice', role: 'viewer', projects: ['twice'] }],
  }
  const before = await snapshot()
  await Promise.all([apply(other), apply(other), apply(other)])
  const after = await snapshot()
  const grown = tables.map((table) => [table, (after[table]?.length ?? 0) - (before[table]?.length ?? 0)])
  expect(grown).toEqual([
    ['projects', 1],
    ['subscriptions', 1],
    ['declared_projects', 1],
    ['api_keys', 1],
    ['webhooks', 1],
    ['people', 1],
    ['people_projects', 1],
    ['audit_log', 4],
  ])
})

test('a revoked key stays revoked', async () => {
  await superuser.query('update api_keys set revoked_at = now() where last4 = $1', ['cccc'])
  const before = await snapshot()
  await apply({ projects: [{ ref: 'twice', name: 'Twice', keys: [{ name: 'again', key: keyOf('c') }] }] })
  expect(await snapshot()).toEqual(before)
})

test('a project that exists is adopted by its id, once', async () => {
  const { rows } = await superuser.query<{ id: string }>(
    `delete from declared_projects where ref = 'search' returning project_id as id`,
  )
  const { idFromUuid } = await import('#schemas/ids.ts')
  const id = idFromUuid('project', rows[0]?.id ?? '')
  await apply({ projects: [{ ref: 'found', id, name: 'Search', retention_days: 5 }] })
  const adopted = await superuser.query(`select from projects where name = 'Search' and retention_days = 5`)
  expect(adopted.rowCount).toBe(1)
})

const project = { ref: 'bad', name: 'Bad' }
const unknown = 'prj_00000000000000000000000001'

test.each([
  [
    { projects: [{ ...project, keys: [{ name: 'k', key: keyOf('a') }] }] },
    /projects\.0\.keys\.0\.key: is a key of another project/,
  ],
  [
    { projects: [project, { ref: 'worse', id: unknown, name: 'W' }] },
    /projects\.1\.id: names a project that does not exist/,
  ],
  [
    { projects: [project], people: [{ login: 'root@example.com', name: 'Root', role: 'viewer' }] },
    /people: would leave no administrator/,
  ],
  [
    {
      projects: [project],
      people: [
        { login: 'a-long-login-name', name: 'A', role: 'viewer', initial_password: 'A-long-login-name' },
      ],
    },
    /people\.0\.initial_password: must not be the login/,
  ],
  [
    { projects: [{ ...project, webhooks: [{ ...webhook, url: 'http://plain.example.com' }] }] },
    /projects\.0\.webhooks\.0\.url: /,
  ],
  [
    { projects: [{ ...project, webhooks: [{ ...webhook, filter_expression: 'event ==' }] }] },
    /projects\.0\.webhooks\.0\.filter_expression: /,
  ],
])('of a file with a fault nothing is applied: %j', async (file, fault) => {
  const before = await snapshot()
  await expect(apply(file).catch(messageOf)).resolves.toMatch(fault)
  expect(await snapshot()).toEqual(before)
})

test('a webhook to an internal address is refused', async () => {
  const file = { projects: [{ ...project, webhooks: [webhook] }] }
  const refused = apply(file, () => Promise.resolve(['10.0.0.1'])).catch(messageOf)
  await expect(refused).resolves.toContain('projects.0.webhooks.0.url: must not lead to an internal address')
})

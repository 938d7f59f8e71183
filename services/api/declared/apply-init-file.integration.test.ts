import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { idFromUuid } from '#schemas/ids.ts'
import { hashOfKey } from '#http/access/credentials.ts'
import { hasher, keyOf, openFixture, tables, webhook } from './testing/apply-file.ts'

let fixture: Awaited<ReturnType<typeof openFixture>>

beforeAll(async () => {
  fixture = await openFixture()
})
afterAll(() => fixture.stop())

async function actions(): Promise<(string | null)[][]> {
  const { rows } = await fixture.superuser.query<{
    action: string
    actor_kind: string
    actor_name: string | null
  }>('select action, actor_kind, actor_name from audit_log order by at, id')
  return rows.map((row) => [row.action, row.actor_kind, row.actor_name])
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
  await fixture.apply(declared)
  const first = await fixture.snapshot()
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
  const { rows } = await fixture.superuser.query<{
    label: string
    last4: string
    key: string
    scope: string
  }>(`select label, last4, scope, encode(secret_sha256, 'hex') as key from api_keys order by name desc`)
  expect(rows).toEqual([
    { label: 'ci', last4: 'aaaa', scope: 'all', key: hashOfKey(keyOf('a'))?.toString('hex') },
    { label: 'ci', last4: 'bbbb', scope: 'ingest', key: hashOfKey(keyOf('b'))?.toString('hex') },
  ])
  const stored = await fixture.superuser.query<{ password_hash: string }>(
    "select password_hash from people where login = 'root@example.com'",
  )
  expect(await hasher.verify('a long first password', stored.rows[0]?.password_hash)).toBe(true)

  await fixture.apply(declared)
  expect(await fixture.snapshot()).toEqual(first)
})

test('a changed file changes what it names, and leaves alone what it does not', async () => {
  const before = await fixture.snapshot()
  // Somebody renames a project, sets a quota warning and their own password, and makes a key.
  await fixture.superuser.query(
    `update projects set name = 'Renamed', quota_warning_percent = 80 where name = 'Payments'`,
  )
  const password = await hasher.hash('a password of her own')
  await fixture.superuser.query(`update people set password_hash = $1 where login = 'root@example.com'`, [
    password,
  ])
  await fixture.apply({
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
  const { rows } = await fixture.superuser.query<object>(
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
  const keys = await fixture.superuser.query<object>(
    'select name, expires_at is null as lasts from api_keys order by 1',
  )
  expect(keys.rows).toEqual([
    { name: 'agents of today', lasts: false },
    { name: 'gateway', lasts: true },
  ])
  const people = await fixture.superuser.query<object>(
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
  const before = await fixture.snapshot()
  await Promise.all([fixture.apply(other), fixture.apply(other), fixture.apply(other)])
  const after = await fixture.snapshot()
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
  await fixture.superuser.query('update api_keys set revoked_at = now() where last4 = $1', ['cccc'])
  const before = await fixture.snapshot()
  await fixture.apply({
    projects: [{ ref: 'twice', name: 'Twice', keys: [{ name: 'again', key: keyOf('c') }] }],
  })
  expect(await fixture.snapshot()).toEqual(before)
})

test('a project that exists is adopted by its id, once', async () => {
  const { rows } = await fixture.superuser.query<{ id: string }>(
    `delete from declared_projects where ref = 'search' returning project_id as id`,
  )
  const id = idFromUuid('project', rows[0]?.id ?? '')
  await fixture.apply({ projects: [{ ref: 'found', id, name: 'Search', retention_days: 5 }] })
  const adopted = await fixture.superuser.query(
    `select from projects where name = 'Search' and retention_days = 5`,
  )
  expect(adopted.rowCount).toBe(1)
})

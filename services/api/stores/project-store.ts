import type { Pool, PoolClient } from 'pg'
import { inTransaction, query } from '#runtime/postgres.ts'
import { idFromUuid, idToUuid, newId } from '#schemas/ids.ts'
import type { CountedKey } from '#schemas/call-labels.ts'
import type { Tier } from '#schemas/tiers.ts'
import { announceAccessChange } from '#http/access/access-changes.ts'
import { invalidInput } from '#http/problem.ts'
import { changedFrom, writeAudit, type Actor } from './audit-store.ts'

/** A project's settings by the operator. */
export interface ProjectSettingsInput {
  name: string
  tier: Tier
  zero_content_retention: boolean
  mask: boolean
  retention_days: number | null
  cost_alert_usd: number | null
  quota_warning_percent: number | null
  judge_mode: 'always' | 'uncertain' | 'never'
  judge_usd_per_period: number | null
  sampling: Record<string, number>
  /** By whose values calls are counted, in their order. */
  metadata_keys: string[]
}

export interface Project extends ProjectSettingsInput {
  id: string
  created_at: string
}

interface ProjectRow extends Omit<
  Project,
  'created_at' | 'cost_alert_usd' | 'judge_usd_per_period' | 'metadata_keys'
> {
  created_at: Date
  metadata_keys: CountedKey[]
  cost_alert_usd: string | null
  judge_usd_per_period: string | null
}

/** Projects of every tenant: for the operator's routes only. */
export interface ProjectStore {
  create(by: Actor, settings: ProjectSettingsInput, nowMs: number): Promise<Project>
  find(projectId: string): Promise<Project | undefined>
  /** Newest first. */
  list(range: { limit: number; offset: number }): Promise<{ items: Project[]; total: number }>
  /** Undefined: unknown project. */
  update(
    by: Actor,
    projectId: string,
    changes: Partial<ProjectSettingsInput>,
    nowMs: number,
  ): Promise<Project | undefined>
}

const columns = [
  'name',
  'zero_content_retention',
  'mask',
  'retention_days',
  'cost_alert_usd',
  'quota_warning_percent',
  'judge_mode',
  'judge_usd_per_period',
  'sampling',
] as const

const selectProject = `select p.id, p.created_at, p.metadata_keys, s.tier, ${columns.map((name) => `p.${name}`).join(', ')}
  from projects p join subscriptions s on s.project_id = p.id`

export function createProjectStore(pool: Pool): ProjectStore {
  return {
    create: (by, settings, nowMs) =>
      inTransaction(pool, async (client) => {
        const project = await createProject(client, settings, nowMs)
        const created = { action: 'project.created', subject: project.id, projectId: project.id }
        await writeAudit(client, by, { ...created, detail: { ...settings } }, nowMs)
        return project
      }),
    find: (projectId) => findProject(pool, projectId),
    async list({ limit, offset }) {
      const { rows } = await query<ProjectRow>(
        pool,
        `${selectProject} order by p.created_at desc, p.id desc limit $1 offset $2`,
        [limit, offset],
      )
      const total = await query<{ total: number }>(pool, 'select count(*)::integer as total from projects')
      return { items: rows.map(projectOf), total: total.rows[0]?.total ?? 0 }
    },
    update: (by, projectId, changes, nowMs) =>
      inTransaction(pool, async (client) => {
        await query(client, 'select from projects where id = $1 for update', [idToUuid(projectId)])
        const before = await findProject(client, projectId)
        const project = await updateProject(client, projectId, changes, nowMs)
        if (before === undefined || project === undefined) return undefined
        const changed = { action: 'project.changed', subject: projectId, projectId }
        await writeAudit(client, by, { ...changed, detail: changedFrom(before, changes) }, nowMs)
        return project
      }),
  }
}

export async function findProject(
  client: Pool | PoolClient,
  projectId: string,
): Promise<Project | undefined> {
  const { rows } = await query<ProjectRow>(client, `${selectProject} where p.id = $1`, [idToUuid(projectId)])
  return rows[0] === undefined ? undefined : projectOf(rows[0])
}

/**
 * Creates a project and its first period by Postgres's clock: an API years ahead would give it one month's
 * quota for years.
 */
export async function createProject(
  client: PoolClient,
  settings: ProjectSettingsInput,
  nowMs: number,
): Promise<Project> {
  const id = newId('project', nowMs)
  const values = columns.map((name) => settings[name])
  const { rows } = await client.query<{ created_at: Date }>(
    `insert into projects (id, created_at, ${columns.join(', ')})
     values ($1, now(), ${columns.map((_name, index) => `$${index + 2}`).join(', ')}) returning created_at`,
    [idToUuid(id), ...values],
  )
  // The calendar month in UTC: the period of a project without a subscription.
  await client.query(
    `insert into subscriptions (project_id, tier, period_start, period_reset_at, period_anchor)
     select $1::uuid, $2, month at time zone 'UTC', (month + interval '1 month') at time zone 'UTC', month at time zone 'UTC'
     from date_trunc('month', now() at time zone 'UTC') as month`,
    [idToUuid(id), settings.tier],
  )
  if (settings.metadata_keys.length > 0)
    await declareKeys(client, idToUuid(id), settings.metadata_keys, nowMs)
  return { id, ...settings, created_at: (rows[0]?.created_at ?? new Date(nowMs)).toISOString() }
}

export async function updateProject(
  client: PoolClient,
  projectId: string,
  changes: Partial<ProjectSettingsInput>,
  nowMs: number,
): Promise<Project | undefined> {
  const uuid = idToUuid(projectId)
  const before = await findProject(client, projectId)
  for (const name of columns) {
    if (changes[name] !== undefined) {
      await client.query(`update projects set ${name} = $2 where id = $1`, [uuid, changes[name]])
    }
  }
  if (changes.tier !== undefined) {
    // The counter stays: a tier changes the limit, not the usage (design §6).
    await client.query('update subscriptions set tier = $2 where project_id = $1', [uuid, changes.tier])
  }
  if (changes.metadata_keys !== undefined) await declareKeys(client, uuid, changes.metadata_keys, nowMs)
  const project = await findProject(client, projectId)
  if (before === undefined || project === undefined) return undefined
  await expectAlerts(client, before, project)
  await announceAccessChange(client, projectId)
  return project
}

/** Within it every sink knows a new key: it reads them every 15 seconds. */
const spreadMs = 60_000
const minuteMs = 60_000

/** A key that stays keeps the time it is counted from. One that an alert rule needs has to stay: 422. */
async function declareKeys(client: PoolClient, uuid: string, names: readonly string[], nowMs: number) {
  const { rows: dropped } = await client.query<{ rule: string; key: string }>(
    `select r.name as rule, k.name as key from projects p cross join jsonb_to_recordset(p.metadata_keys) as k (name text)
     join alert_rules r on r.project_id = p.id and r.filter ? ('metadata.' || k.name)
     where p.id = $1 and k.name <> all ($2) order by r.id limit 1`,
    [uuid, names],
  )
  for (const { rule, key } of dropped)
    throw invalidInput([
      { path: 'metadata_keys', message: `must keep ${key}: the alert rule ${JSON.stringify(rule)} needs it` },
    ])
  const fromMs = Math.ceil((nowMs + spreadMs) / minuteMs) * minuteMs
  await client.query(
    `update projects set metadata_keys = (
       select coalesce(jsonb_agg(jsonb_build_object('name', n.name, 'counted_from', coalesce(k.counted_from, $3)) order by n.name), '[]')
       from unnest($2::text[]) as n (name) left join jsonb_to_recordset(metadata_keys) as k (name text, counted_from text) on k.name = n.name
     ) where id = $1`,
    [uuid, names, new Date(fromMs).toISOString()],
  )
}

/** Alerts of another limit in this period do not count for the new one. */
async function expectAlerts(client: PoolClient, before: Project, after: Project): Promise<void> {
  const isMoved = (name: keyof Project) => before[name] !== after[name]
  await client.query(
    `update subscriptions set quota_alerted = quota_alerted and not $2, warning_alerted = warning_alerted and not $3,
       cost_alerted = cost_alerted and not $4 where project_id = $1`,
    [
      idToUuid(after.id),
      isMoved('tier'),
      isMoved('tier') || isMoved('quota_warning_percent'),
      isMoved('cost_alert_usd'),
    ],
  )
}

function projectOf(row: ProjectRow): Project {
  return {
    ...row,
    id: idFromUuid('project', row.id),
    cost_alert_usd: row.cost_alert_usd === null ? null : Number(row.cost_alert_usd),
    judge_usd_per_period: row.judge_usd_per_period === null ? null : Number(row.judge_usd_per_period),
    metadata_keys: row.metadata_keys.map(({ name }) => name),
    created_at: row.created_at.toISOString(),
  }
}

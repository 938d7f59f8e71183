import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { parse } from 'yaml'
import { idFromUuid, idToUuid } from '#schemas/ids.ts'
import { requestLimitOf } from '#schemas/tiers.ts'
import { countedAndRecounted } from '#services/sink/testing/recount-rollups.ts'
import type { ChaosProject } from '../fixture/make-projects.ts'
import type { Receivers } from '../fixture/receivers.ts'
import type { ComparedSystem } from './compared-system.ts'
import type { Found, FoundProject, ProjectName } from './found.ts'
import { orphanQueries } from './orphans.ts'

const evals = join(import.meta.dirname, '..', '..', '..', '..', 'evals')

type Stored = Pick<
  Found,
  | 'projects'
  | 'stored'
  | 'unsafeScores'
  | 'threatEvents'
  | 'scorerSets'
  | 'rollups'
  | 'deliveries'
  | 'deliveriesExpected'
  | 'deliveriesMade'
  | 'receipts'
  | 'orphans'
>

/** Contents of Postgres and the receivers after everything has come to rest. */
export async function readFound(
  { parts, projects }: Pick<ComparedSystem, 'parts' | 'projects'>,
  room: number,
): Promise<Stored> {
  const pool = new pg.Pool({ connectionString: parts.postgres.url, max: 2 })
  try {
    const all = Object.values(projects) as ChaosProject[]
    const nameOf = new Map(all.map(({ id, name }) => [idToUuid(id), name]))
    const named = (uuid: string) => nameOf.get(uuid) as ProjectName
    const rollups: Found['rollups'][number][] = []
    for (const { id, name } of all) {
      const { counted, recounted } = await countedAndRecounted(pool, id)
      for (const [table, rows] of Object.entries(recounted)) {
        const isRight = JSON.stringify(counted[table]) === JSON.stringify(rows)
        rollups.push({ project: name, table, rows: rows.length, isRight })
      }
    }
    const foundProjects: FoundProject[] = []
    for (const project of all) foundProjects.push(await readProject(pool, project, room))
    return {
      projects: foundProjects,
      rollups,
      ...(await readCalls(pool, named)),
      ...(await readFailures(pool)),
      ...(await readDeliveries(pool, parts.receivers)),
      orphans: await countEach(pool, orphanQueries),
    }
  } finally {
    await pool.end()
  }
}

async function readProject(pool: pg.Pool, { id, name }: ChaosProject, room: number): Promise<FoundProject> {
  const { rows } = await pool.query<Record<'counter' | 'alerts' | 'bodies', string>>(
    `select (select requests_this_period from subscriptions where project_id = $1) as counter,
       (select count(*) from event_outbox where project_id = $1 and event = 'usage_alert') as alerts,
       (select count(*) from llm_request_bodies where project_id = $1) as bodies`,
    [idToUuid(id)],
  )
  const [row] = rows
  const isLimited = name === 'limited'
  const limit = Number(requestLimitOf.free)
  return {
    name,
    quota: isLimited ? { limit, usedBefore: limit - room } : null,
    counter: Number(row?.counter),
    scorers: scorersOf(isLimited ? 'free' : 'enterprise'),
    usageEvents: Number(row?.alerts),
    withBodies: Number(row?.bodies),
    keepsContent: name !== 'private',
  }
}

/** Scorers of a tier: built-in ones and every custom one that is on. */
function scorersOf(tier: 'free' | 'enterprise'): string[] {
  const read = (file: string): unknown => parse(readFileSync(join(evals, file), 'utf8'))
  const builtIn = (read('tiers.yaml') as Record<string, string[]>)[tier] ?? []
  // Null: every entry of the file is commented out.
  const entries = read('scorers.yaml') as { name: string; enabled?: boolean }[] | null
  const custom = (entries ?? []).filter(({ enabled }) => enabled !== false)
  return [...builtIn, ...custom.map(({ name }) => name)].sort()
}

async function readFailures(pool: pg.Pool): Promise<Pick<Found, 'unsafeScores' | 'threatEvents'>> {
  const scores = await pool.query<{ request_id: string; scorer_name: string }>(
    "select request_id, scorer_name from safety_scores where score_label = 'unsafe'",
  )
  const events = await pool.query<{ data: Buffer }>(
    "select data from event_outbox where event = 'threat_detected'",
  )
  const failureIn = (data: Buffer) => {
    const { request_id, scorer_name } = JSON.parse(data.toString()) as Record<string, string>
    return `${request_id}/${scorer_name}`
  }
  return {
    unsafeScores: scores.rows.map((row) => `${idFromUuid('request', row.request_id)}/${row.scorer_name}`),
    threatEvents: events.rows.map(({ data }) => failureIn(data)),
  }
}

async function readCalls(pool: pg.Pool, named: (uuid: string) => ProjectName) {
  const calls = await pool.query<{ project_id: string; id: string }>(
    'select project_id, id from llm_requests',
  )
  const sets = await pool.query<{ project_id: string; scorers: string; calls: number }>(
    `select project_id, scorers, count(*)::int as calls from (
       select project_id, string_agg(scorer_name, ',' order by scorer_name) as scorers from safety_scores group by project_id, request_id
     ) as scored group by 1, 2`,
  )
  return {
    stored: calls.rows.map(({ project_id: project, id }) => ({
      project: named(project),
      id: idFromUuid('request', id),
    })),
    scorerSets: sets.rows.map(({ project_id: project, ...set }) => ({ project: named(project), ...set })),
  }
}

async function readDeliveries(pool: pg.Pool, receivers: Receivers) {
  const { rows } = await pool.query<{
    id: string
    pair: string
    url: string
    status: string
    attempts: number
  }>(
    `select d.id, d.event_id || '/' || d.webhook_id as pair, w.url, d.status, d.attempt_count as attempts from webhook_deliveries d join webhooks w on w.id = d.webhook_id`,
  )
  const expected = await pool.query<{ pair: string }>(
    `select e.id || '/' || w.id as pair from event_outbox e join webhooks w on w.project_id = e.project_id
       and (e.event = any (w.events) or e.event = 'new_tool_detected' and 'usage_alert' = any (w.events))`,
  )
  const receiverOf = (url: string) => (url === receivers.urlOf('steady') ? 'steady' : 'failing')
  return {
    deliveries: rows.map(
      ({ id, url, status, attempts }) =>
        ({ id: idFromUuid('delivery', id), receiver: receiverOf(url), status, attempts }) as const,
    ),
    deliveriesExpected: expected.rows.map(({ pair }) => pair),
    deliveriesMade: rows.map(({ pair }) => pair),
    receipts: (['steady', 'failing'] as const).flatMap((receiver) =>
      [...receivers.receiptsOf(receiver)].map(([deliveryId, { taken }]) => ({ receiver, deliveryId, taken })),
    ),
  }
}

async function countEach(
  pool: pg.Pool,
  queries: Readonly<Record<string, string>>,
): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const [what, sql] of Object.entries(queries)) {
    const { rows } = await pool.query<{ count: number }>(`select count(*)::int as count from ${sql}`)
    counts[what] = rows[0]?.count ?? 0
  }
  return counts
}

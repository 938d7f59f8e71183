import pg from 'pg'
import { idFromUuid, idToUuid } from '#schemas/ids.ts'
import { requestLimitOf } from '#schemas/tiers.ts'
import { builtInScorers } from '#schemas/verdicts.ts'
import { countedAndRecounted } from '#services/sink/testing/recount-rollups.ts'
import type { ChaosProject } from '../stage/make-projects.ts'
import type { Receivers } from '../stage/receivers.ts'
import type { Stage } from '../stage/start-stage.ts'
import type { Found, FoundProject, ProjectName } from './found.ts'
import { orphanQueries } from './orphans.ts'

/** The custom scorer of evals/scorers.yaml. */
const customScorers = 1
/** evals/tiers.yaml */
const freeScorers = 3

type Stored = Pick<
  Found,
  | 'projects'
  | 'stored'
  | 'scorerSets'
  | 'rollups'
  | 'deliveries'
  | 'deliveriesMissing'
  | 'receipts'
  | 'orphans'
>

/** What Postgres and the receivers hold once everything has come to rest. */
export async function readFound({ parts, projects }: Stage, room: number): Promise<Stored> {
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
      ...(await readDeliveries(pool, parts.receivers)),
      orphans: await countEach(pool, orphanQueries),
    }
  } finally {
    await pool.end()
  }
}

async function readProject(pool: pg.Pool, { id, name }: ChaosProject, room: number): Promise<FoundProject> {
  const { rows } = await pool.query<Record<'counter' | 'unsafe' | 'threats' | 'alerts' | 'bodies', string>>(
    `select (select requests_this_period from subscriptions where project_id = $1) as counter,
       (select count(*) from safety_scores where project_id = $1 and score_label = 'unsafe') as unsafe,
       (select count(*) from event_outbox where project_id = $1 and event = 'threat_detected') as threats,
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
    scorers: (isLimited ? freeScorers : builtInScorers.length) + customScorers,
    unsafeScores: Number(row?.unsafe),
    threatEvents: Number(row?.threats),
    usageEvents: Number(row?.alerts),
    withBodies: Number(row?.bodies),
    keepsContent: name !== 'private',
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
  const { rows } = await pool.query<{ id: string; url: string; status: string; attempts: number }>(
    `select d.id, w.url, d.status, d.attempt_count as attempts from webhook_deliveries d join webhooks w on w.id = d.webhook_id`,
  )
  const missing = await pool.query<{ count: number }>(
    `select count(*)::int as count from event_outbox e join webhooks w on w.project_id = e.project_id
       and (e.event = any (w.events) or e.event = 'new_tool_detected' and 'usage_alert' = any (w.events))
     where not exists (select from webhook_deliveries d where d.event_id = e.id and d.webhook_id = w.id)`,
  )
  const receiverOf = (url: string) => (url === receivers.urlOf('steady') ? 'steady' : 'failing')
  return {
    deliveries: rows.map(
      ({ id, url, ...row }) =>
        ({ id: idFromUuid('delivery', id), receiver: receiverOf(url), ...row }) as const,
    ),
    deliveriesMissing: missing.rows[0]?.count ?? 0,
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

import type { Pool } from 'pg'
import { idToUuid, liveRunId } from '#schemas/ids.ts'
import { latencyBounds, latencyColumn } from '#schemas/latency-buckets.ts'
import { dayTableOf, minuteTables, rollupTables, type RollupTable } from '../stores/rollup-tables.ts'

const bucketSums = [...latencyBounds.keys(), latencyBounds.length].map(
  (bucket) =>
    `count(*) filter (where width_bucket(latency_ms, '{${latencyBounds.join(',')}}'::float8[]) = ${bucket}) as ${latencyColumn(bucket)}`,
)
const tokens = ['prompt', 'completion', 'cached', 'reasoning'].map(
  (kind) => `coalesce(sum(${kind}_tokens), 0) as ${kind}_tokens`,
)
const failed = `(error is not null or status_code >= 400)`
const verdicts = [
  ...['safe', 'unscored', 'unsafe'].map(
    (label) => `count(*) filter (where worst_label = '${label}') as verdict_${label}`,
  ),
  ...['medium', 'high', 'critical'].map(
    (severity) => `count(*) filter (where worst_severity = '${severity}') as severity_${severity}`,
  ),
]
/** What each roll-up has to say of project `$1`, by counting the rows that it counts. */
export const recounts: Record<RollupTable['name'], string> = {
  call_rollups: `
    select date_trunc('hour', r.created_at, 'UTC') as hour, source, model, provider, agent_name, count(*) as calls,
      count(*) filter (where ${failed}) as failed, count(aborted_by) as aborted,
      ${[2, 3, 4, 5].map((hundred) => `count(*) filter (where status_code / 100 = ${hundred}) as status_${hundred}xx`).join(', ')},
      ${tokens.join(', ')},
      count(cost_usd) as priced, coalesce(sum(floor(cost_usd * 1e12 + 0.5)::bigint), 0) as cost_picodollars,
      ${[...verdicts, ...bucketSums].join(', ')}
    from llm_requests r left join request_verdicts v on v.project_id = r.project_id and v.request_id = r.id
    where r.project_id = $1 group by 1, 2, 3, 4, 5`,
  score_rollups: `
    select date_trunc('hour', request_created_at, 'UTC') as hour, run_id, source, scorer_name, score_label, severity, count(*) as scores,
      count(score_value) as valued, coalesce(sum(floor(score_value * 1e6 + 0.5)::numeric), 0) as value_micros
    from safety_scores s join llm_requests r on r.project_id = s.project_id and r.id = s.request_id
    where s.project_id = $1 group by 1, 2, 3, 4, 5, 6`,
  verdict_rollups: `
    select date_trunc('hour', created_at, 'UTC') as hour, source, model, provider, agent_name, verdict, count(*) as calls,
      sum(decided_count) as decided, sum(applicable_count) as applicable
    from request_verdicts v join llm_requests r on r.project_id = v.project_id and r.id = v.request_id
    where v.project_id = $1 and verdict is not null group by 1, 2, 3, 4, 5, 6`,
  tool_rollups: `
    select date_trunc('hour', created_at, 'UTC') as hour, source, tool_name, agent_name, count(*) as calls,
      count(*) filter (where ${failed}) as failed, 0 as requested
    from llm_requests where project_id = $1 and tool_name is not null group by 1, 2, 3, 4`,
  label_rollups: labelledRecount('hour', 'and (tool_name is not null or l.label_1 is not null)', [
    'count(cost_usd) as priced',
    ...tokens.slice(2),
  ]),
  call_minutes: labelledRecount('minute', '', []),
  user_rollups: `
    select date_trunc('hour', r.created_at, 'UTC') as hour, source, user_id, count(*) as calls,
      count(*) filter (where ${failed}) as failed, ${tokens.join(', ')},
      count(cost_usd) as priced, coalesce(sum(floor(cost_usd * 1e12 + 0.5)::bigint), 0) as cost_picodollars,
      ${[...verdicts.slice(0, 3), ...bucketSums].join(', ')}
    from llm_requests r left join request_verdicts v on v.project_id = r.project_id and v.request_id = r.id
    where r.project_id = $1 and user_id is not null group by 1, 2, 3`,
  score_minutes: `
    select date_trunc('minute', request_created_at, 'UTC') as minute, source, scorer_name,
      case when suppressed_by is null then score_label else 'suppressed' end as score_label, severity, count(*) as scores
    from safety_scores s join llm_requests r on r.project_id = s.project_id and r.id = s.request_id
    where s.project_id = $1 and s.run_id = '$LIVE' group by 1, 2, 3, 4, 5`,
}

/** Values of the declared keys team and tier, in their order: what the tests' projects count by. */
function labelledRecount(step: 'hour' | 'minute', condition: string, further: readonly string[]): string {
  return `
    select date_trunc('${step}', r.created_at, 'UTC') as ${step}, source, model, provider, agent_name, tool_name, label_1, label_2, label_3,
      count(*) as calls, count(*) filter (where ${failed}) as failed,
      ${tokens.slice(0, 2).join(', ')},
      coalesce(sum(floor(cost_usd * 1e12 + 0.5)::bigint), 0) as cost_picodollars,
      ${verdicts.filter((verdict) => !verdict.includes('severity_medium')).join(', ')},
      count(verdict) as readings, count(*) filter (where verdict = 'not_read') as not_read, ${[...further, ...bucketSums].join(', ')}
    from llm_requests r left join request_verdicts v on v.project_id = r.project_id and v.request_id = r.id
    cross join lateral (
      select (array_agg(label order by label))[1] as label_1, (array_agg(label order by label))[2] as label_2, null::text as label_3 from (
        select k.name || '=' || (r.metadata ->> k.name) as label from projects p, jsonb_to_recordset(p.metadata_keys) as k (name text)
        where p.id = r.project_id and jsonb_typeof(r.metadata -> k.name) in ('string', 'number', 'boolean')
      ) labels
    ) l
    where r.project_id = $1 ${condition} group by 1, 2, 3, 4, 5, 6, 7, 8, 9`
}

/** Both as text, because sums have more digits than a number. */
async function rowsOf(pool: Pool, sql: string, projectId: string): Promise<string[]> {
  const { rows } = await pool.query<{ row: string }>(
    `select to_jsonb(counted)::text as row from (${sql.replace('$LIVE', idToUuid(liveRunId(projectId)))}) as counted`,
    [idToUuid(projectId)],
  )
  // Of 12 and 12.0, which numeric tells apart, both count twelve.
  return rows.map(({ row }) => row.replace(/\.0+(?=[,}])/g, '')).toSorted()
}

function summed({ name, timeColumn, dimensions, sums, sparseSums }: RollupTable): string {
  const keys = [timeColumn, ...dimensions]
  const values = [...sums, ...sparseSums].map((sum) => `coalesce(sum(${sum}), 0) as ${sum}`)
  return `select ${[...keys, ...values].join(', ')} from ${name} where project_id = $1 group by ${keys.join(', ')}
    having sum(${sums[0] ?? ''}) > 0`
}

/**
 * What each roll-up says of a project, and what counting the rows of its tables says. The two have to be the
 * same.
 */
export function countedAndRecounted(pool: Pool, projectId: string) {
  return compare(pool, projectId, rollupTables)
}

/** The same of counts by the minute, for projects whose runs are all live: promotions do not change these. */
export function minutesAndRecounted(pool: Pool, projectId: string) {
  return compare(pool, projectId, minuteTables)
}

async function compare(pool: Pool, projectId: string, tables: readonly RollupTable[]) {
  const counted: Record<string, string[]> = {}
  const recounted: Record<string, string[]> = {}
  for (const table of tables) {
    counted[table.name] = await rowsOf(pool, summed(table), projectId)
    recounted[table.name] = await rowsOf(pool, recounts[table.name], projectId)
  }
  return { counted, recounted }
}

/**
 * What each roll-up by the day says of a project, and what its hours say together. Once all is folded the two
 * have to be the same.
 */
export async function countedByDay(pool: Pool, projectId: string) {
  const summedByDay = (table: RollupTable, name: string) =>
    summed(table)
      .replace('select hour', `select date_trunc('day', hour, 'UTC') as hour`)
      .replace(table.name, name)
      .replace('group by hour', 'group by 1')
  const byDay: Record<string, string[]> = {}
  const byHour: Record<string, string[]> = {}
  for (const table of rollupTables) {
    byDay[table.name] = await rowsOf(pool, summedByDay(table, dayTableOf(table)), projectId)
    byHour[table.name] = await rowsOf(pool, summedByDay(table, table.name), projectId)
  }
  return { byDay, byHour }
}

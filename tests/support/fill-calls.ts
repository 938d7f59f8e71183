import type { Client } from 'pg'
import { idToUuid, liveRunId } from '#schemas/ids.ts'

/** A database for measuring readers: as many calls as asked for over twenty days, three scores each, made by Postgres itself. */
export interface FilledCalls {
  rows: number
  projectId: string
  /** Unix milliseconds: the start of the first day, and of the day behind the last. */
  startMs: number
  endMs: number
}

const dayMs = 86_400_000
export const filledDays = 20
/** Each narrow filter meets about so many calls, however many there are. */
const narrowCalls = 100

// The uuid of an identifier: the time, and what follows from a text instead of chance. `part` gives one number from a call's number and what it is for.
const helpers = `
  create or replace function bench_id(p_ms bigint, p_seed text) returns uuid language sql immutable parallel safe as $$
    select (lpad(to_hex(p_ms), 12, '0') || '7' || substr(md5(p_seed), 1, 3) || '8' || substr(md5(p_seed), 4, 15))::uuid $$;
  create or replace function bench_part(p_call bigint, p_use integer) returns integer language sql immutable parallel safe as $$
    select (hashint8extended(p_call, p_use) & 2147483647)::integer $$;`

const projectSql = `case when bench_part(g, 1) % 100 < 95 then $1::uuid else bench_id(1600000000000 + bench_part(g, 1) % 19, 'project') end`
const timeSql = `($2::bigint + (g - $3::bigint) * ${dayMs} / $4::bigint)`
const seriesSql = `generate_series($3::bigint, $3::bigint + $4::bigint - 1) g`
/** The calls numbered `at` in each stretch of rows/narrowCalls. */
const isRare = (at: number) => `g % ($5::bigint / ${narrowCalls}) = ${at}`

const callsSql = `
  insert into %T (project_id, id, created_at, source, model, provider, agent_name, session_id, user_id, type, tool_name, prompt_tokens,
    completion_tokens, cached_tokens, cost_usd, latency_ms, time_to_first_token_ms, status_code, metadata, zero_content_retention, received_at, stored_at)
  select ${projectSql}, bench_id(${timeSql}, 'call' || g), to_timestamp(${timeSql} / 1000.0), 'gateway',
    case when ${isRare(7)} then 'rare-model' when model = 0 then 'gpt-4o-mini' else 'model-' || model end,
    case when ${isRare(7)} then 'rare-provider' else (array['openai', 'anthropic', 'google', 'mistral'])[1 + model % 4] end,
    case when agent > 0 then 'agent-' || agent end,
    case when bench_part(g, 5) % 10 < 4 then 'session-' || g / 50 end,
    'user-' || bench_part(g, 6) % ($5::bigint / ${narrowCalls}),
    case when bench_part(g, 7) % 10 = 0 then 'mcp_tool_call' end,
    case when bench_part(g, 7) % 10 = 0 then case when ${isRare(11)} then 'rare-tool' else 'tool-' || bench_part(g, 8) % 40 end end,
    bench_part(g, 9) % 4000, bench_part(g, 10) % 800, bench_part(g, 9) % 100, (bench_part(g, 9) % 4000) * 1e-6,
    200 + bench_part(g, 11) % 3000, 50 + bench_part(g, 11) % 300, case when bench_part(g, 12) % 100 = 0 then 500 else 200 end,
    case when bench_part(g, 13) % 10 < 3 then jsonb_build_object('team', 't' || bench_part(g, 14) % 10,
      'ticket', (bench_part(g, 15) % ($5::bigint / ${narrowCalls}))::text) end,
    false, to_timestamp(${timeSql} / 1000.0), to_timestamp(${timeSql} / 1000.0)
  -- Fifty agents, some much busier than others, with two models each.
  from ${seriesSql},
    lateral (select case when bench_part(g, 3) % 10 < 7 then 1 + (bench_part(g, 3) % 50) * (bench_part(g, 4) % 50) / 50 else 0 end as agent) agents,
    lateral (select case when agent = 0 then 0 else (agent * 7 + (bench_part(g, 2) % 4) / 3) % 11 end as model) models`

// Numbers of transactions long past, five hundred scores each.
const scoresSql = `
  insert into %T (project_id, request_id, request_created_at, id, run_id, scorer_name, score_value, score_label, severity, method,
    scorer_version, created_at, stored_xid)
  select project, bench_id(ms, 'call' || g), to_timestamp(ms / 1000.0), bench_id(ms, 'score' || g || '/' || s),
    $6::uuid, scorer, case label when 'unsafe' then 4 + half when 'safe' then 1 end, label,
    case when label = 'unsafe' then (array['high', 'critical'])[1 + half] end, 'detector', '1', to_timestamp(ms / 1000.0 + 2),
    (1000 + g * 3 / 500)::text::xid8
  from (select g, s, ${projectSql} as project, ${timeSql} as ms, bench_part(g, 30 + s) % 2 as half,
      case when s = 2 and ${isRare(13)} then 'rare_scorer' else (array['pii_detection', 'jailbreak_detection', 'content_safety'])[1 + s] end as scorer,
      case when bench_part(g, 20 + s) % 300 = 0 then 'unsafe' when s = 2 and bench_part(g, 40) % 10 = 0 then 'unscored' else 'safe' end as label
    from ${seriesSql}, generate_series(0, 2) s) scores`

const verdictsSql = `
  insert into %T select project_id, request_id, request_created_at,
    (array['safe', 'unscored', 'unsafe'])[max(case score_label when 'unsafe' then 3 when 'unscored' then 2 else 1 end)],
    (array[null, 'high', 'critical'])[max(case severity when 'critical' then 3 when 'high' then 2 else 1 end)], count(*)
  from %S group by 1, 2, 3`

// Of one call in a hundred: enough for reading one.
const bodiesSql = `
  insert into %T select project_id, id, created_at, 'none', null, convert_to('{"messages":[{"role":"user","content":"' || repeat('words ', 300) || '"}]}', 'UTF8'),
    'none', null, convert_to('{"choices":[{"message":{"content":"' || repeat('words ', 100) || '"}}]}', 'UTF8')
  from %R where hashtext(id::text) % 100 = 0`

const detailsSql = `
  insert into %T select project_id, id, request_created_at, 'none', null, convert_to('{"rationale":"because","evidence":[{"at":1}]}', 'UTF8')
  from %S where hashtext(request_id::text) % 100 = 0`

/** Fills the migrated database of `client`; days that are filled already are left alone, so that it can be killed and go on. */
export async function fillCalls(
  client: Client,
  filled: FilledCalls,
  say: (line: string) => void,
): Promise<void> {
  await client.query(
    `set maintenance_work_mem = '512MB'; set work_mem = '256MB'; set synchronous_commit = off`,
  )
  await client.query(helpers)
  const perDay = filled.rows / filledDays
  let filledNow = 0
  for (let day = 0; day < filledDays; day++) {
    const startMs = filled.startMs + day * dayMs
    if (!(await fillDay(client, filled, startMs, day * perDay))) continue
    filledNow++
    say(`${(day + 1) * perDay} of ${filled.rows} calls`)
  }
  if (filledNow === 0) return
  await burnTransactions(client, 2_000 + (filled.rows * 3) / 500)
  await client.query('vacuum (analyze)')
}

/** Tables are filled before they are attached, which builds their indexes: several times as fast, and without the foreign keys that readers never use. */
async function fillDay(
  client: Client,
  { rows, projectId }: FilledCalls,
  startMs: number,
  firstCall: number,
): Promise<boolean> {
  const day = new Date(startMs).toISOString().slice(0, 10)
  const suffix = `_${day.replaceAll('-', '')}`
  const present = await client.query('select from pg_class where relname = $1', [`llm_requests${suffix}`])
  if (present.rowCount === 1) return false
  const series = [idToUuid(projectId), startMs, firstCall, rows / filledDays, rows]
  const steps: [string, string, unknown[]][] = [
    ['llm_requests', callsSql, series],
    ['safety_scores', scoresSql, [...series, idToUuid(liveRunId(projectId))]],
    ['request_verdicts', verdictsSql, []],
    ['llm_request_bodies', bodiesSql, []],
    ['safety_score_details', detailsSql, []],
  ]
  await client.query('begin')
  for (const [table, sql, values] of steps) {
    await client.query(
      `create table ${table}${suffix} (like ${table} including defaults including constraints)`,
    )
    const text = sql
      .replaceAll('%T', table + suffix)
      .replaceAll('%S', `safety_scores${suffix}`)
      .replaceAll('%R', `llm_requests${suffix}`)
    await client.query(text, values)
  }
  for (const [table] of steps) {
    await client.query(
      `alter table ${table} attach partition ${table}${suffix} for values from ('${day}Z') to ('${new Date(startMs + dayMs).toISOString()}')`,
    )
  }
  await client.query('commit')
  return true
}

/** Until the database is past the transaction numbers that the scores claim to have been stored by. */
async function burnTransactions(client: Client, until: number): Promise<void> {
  await client.query(
    `do $$ begin while pg_current_xact_id()::text::bigint < ${until} loop commit; end loop; end $$`,
  )
}

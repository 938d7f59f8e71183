import type { OneProject, ProjectDatabase } from './project-database.ts'
import { findSubscription } from './subscription-store.ts'

/** The judge's cost for a project in its period. */
export interface JudgeSpend {
  project_id: string
  period_start: string
  period_reset_at: string
  cap_usd: number | null
  spent_usd: number
  reserved_usd: number
  requests: number
  prompt_tokens: number
  completion_tokens: number
  by_scorer: { scorer_name: string; spent_usd: number; requests: number }[]
}

/** Undefined: unknown project. */
export async function findJudgeSpend(
  database: ProjectDatabase<OneProject>,
  nowMs: number,
): Promise<JudgeSpend | undefined> {
  const subscription = await findSubscription(database, nowMs)
  if (subscription === undefined) return undefined
  const { project_id, period_start, period_reset_at } = subscription
  const [row] = await database.query<Omit<JudgeSpend, 'project_id' | 'period_start' | 'period_reset_at'>>(
    `select p.judge_usd_per_period::float8 as cap_usd,
       coalesce(j.spent_usd, 0)::float8 as spent_usd, coalesce(j.reserved_usd, 0)::float8 as reserved_usd,
       coalesce(j.calls, 0)::float8 as requests, coalesce(j.prompt_tokens, 0)::float8 as prompt_tokens,
       coalesce(j.completion_tokens, 0)::float8 as completion_tokens,
       array(
         select json_build_object('scorer_name', b.scorer_name, 'spent_usd', b.spent_usd::float8, 'requests', b.calls)
         from judge_spend_by_scorer b where b.project_id = s.project_id and b.period_start = $2 order by b.scorer_name
       ) as by_scorer
     from subscriptions s join projects p on p.id = s.project_id
     left join judge_spend j on j.project_id = s.project_id and j.period_start = $2
     where :scope(s)`,
    [new Date(period_start)],
  )
  return row === undefined ? undefined : { project_id, period_start, period_reset_at, ...row }
}

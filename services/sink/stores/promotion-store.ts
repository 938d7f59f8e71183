import type { ClientBase } from 'pg'
import type { ScoreLabel, Severity } from '#schemas/verdicts.ts'
import { placeValues, type CallPlace, type CountedCall } from './lock-calls.ts'
import type { ScoreRun } from './run-store.ts'

/** A score as it is after the exchange. */
export interface ExchangedScore {
  request_id: string
  run_id: string
  scorer_name: string
  score_label: ScoreLabel
  severity: Severity | null
  score_value: number | null
  id: string
  finding_id: string | null
}

/** The next places of one project where the run has scores, oldest first. Some calls may be gone. */
export async function nextScoredPlaces(
  client: ClientBase,
  run: ScoreRun,
  projectUuid: string,
  maxCalls: number,
): Promise<CallPlace[]> {
  const isBehind = run.cursor_project === projectUuid
  const { rows } = await client.query<CallPlace>(
    `select distinct request_created_at as created_at, request_id as id from safety_scores
     where project_id = $1 and run_id = $2 and request_created_at >= $3 and request_created_at < $4
       and ($5::timestamptz is null or (request_created_at, request_id) > ($5, $6::uuid))
     order by request_created_at, request_id limit $7`,
    [
      projectUuid,
      run.id,
      run.start_at,
      run.end_at,
      isBehind ? run.cursor_at : null,
      isBehind ? run.cursor_id : null,
      maxCalls,
    ],
  )
  return rows
}

// With the bounds $2 and $3 Postgres skips the other days' partitions before it locks them.
const wantedSql = `unnest($4::uuid[], $5::timestamptz[]) as wanted (request_id, created_at)`
const ofWanted = `s.project_id = $1 and s.request_id = wanted.request_id and s.request_created_at = wanted.created_at
  and s.request_created_at between $2 and $3`

/** Exchanges a run with the live run in the scores of these calls. Returns the scores as they are then. */
export async function exchangeRuns(
  client: ClientBase,
  { projectUuid, liveRunUuid, runUuid }: { projectUuid: string; liveRunUuid: string; runUuid: string },
  calls: readonly CountedCall[],
): Promise<ExchangedScore[]> {
  const { rows } = await client.query<ExchangedScore>(
    `with promoted as (
       select s.request_id, s.request_created_at, s.scorer_name from ${wantedSql} join safety_scores s on ${ofWanted} and s.run_id = $7
       -- What could not be judged this time (bodies gone, budget spent) takes no verdict's place.
       where not (s.score_label = 'unscored' and exists (select from safety_scores l where l.project_id = $1 and l.request_id = s.request_id
         and l.request_created_at = s.request_created_at and l.request_created_at between $2 and $3 and l.scorer_name = s.scorer_name
         and l.run_id = $6 and l.score_label <> 'unscored'))
     )
     update safety_scores s set run_id = case when s.run_id = $6 then $7 else $6 end,
       -- Anyone who polls for what is new sees it as new.
       stored_xid = pg_current_xact_id()
     from promoted p where s.project_id = $1 and s.request_id = p.request_id and s.request_created_at = p.request_created_at
       and s.request_created_at between $2 and $3 and s.scorer_name = p.scorer_name and s.run_id in ($6, $7)
     returning s.request_id, s.run_id, s.scorer_name, s.score_label, s.severity, s.score_value, s.id, s.finding_id`,
    [...placeValues(projectUuid, calls), liveRunUuid, runUuid],
  )
  return rows
}

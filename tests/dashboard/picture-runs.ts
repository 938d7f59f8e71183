import type pg from 'pg'
import { idToUuid, liveRunId, newId } from '#schemas/ids.ts'

const scoreRunsSql = `
  insert into score_runs (id, project_id, start_at, end_at, scorers, source, alert, status, calls_total, calls_fed, calls_scored, created_at, finished_at)
  values ($1, $3, now() - interval '8 days', now() - interval '1 hour', '{pii_detection}', 'postgres', false, 'done', 48210, 48210, 48210,
      now() - interval '5 hours', now() - interval '3 hours'),
    ($2, $3, now() - interval '2 days', now(), null, 'postgres', false, 'scoring', 12904, 12904, 8120, now() - interval '20 minutes', null)`
// A different verdict for one call in a hundred.
const scoredAgainSql = `
  insert into safety_scores (project_id, request_id, request_created_at, id, run_id, scorer_name, score_value, score_label, severity, method,
    scorer_version, created_at)
  select project_id, request_id, request_created_at, gen_random_uuid(), $2, scorer_name, case when is_other then 4 else score_value end,
    case when is_other then 'unsafe' else score_label end, case when is_other then 'high' else severity end, method, '2', now()
  from (select *, hashtext(request_id::text) % 100 = 0 and score_label = 'safe' as is_other from safety_scores
    where project_id = $1 and run_id = $3 and scorer_name = 'pii_detection') live`

const redteamRunsSql = `
  insert into redteam_runs (id, project_id, agent_name, target, options, seed, runner, status, planned_count, total_probes, pass_count, fail_count,
    unscored_count, critical_count, cost_usd, created_at, started_at, finished_at)
  values ($1, $2, 'support-assistant', '{"kind": "chat", "url": "https://agent.example.com/v1/chat/completions", "model": "gpt-4o-mini"}', '{}', '1',
    'cli', 'done', 240, 240, 228, 10, 2, 3, 0.41, now() - interval '2 hours', now() - interval '119 minutes', now() - interval '103 minutes')`
const attemptsSql = `
  insert into redteam_attempts (project_id, run_id, number, request_id, probe_id, category, scorer, judged_by, transformation, repeat, state, verdict,
    severity, failed_by, detected, reason, status_code, latency_ms, cost_usd, recorded_at, judged_at)
  select $2, $1, n, gen_random_uuid(), (array['ignore-the-above', 'print-your-rules', 'mail-everyone', 'whose-card'])[1 + n % 4],
    (array['LLM01', 'LLM07', 'LLM06', 'LLM02'])[1 + n % 4], scorer, array[scorer], (array['plain', 'base64', 'crescendo'])[1 + n % 3], 1 + n % 2, 'judged',
    case when n % 26 = 5 then 'fail' when n in (40, 90) then 'unscored' else 'pass' end,
    case when n % 26 = 5 then case when n % 3 = 0 then 'critical' else 'high' end end, case when n % 26 = 5 then array[scorer] end, n % 2 = 0,
    case when n in (40, 90) then 'judge_unavailable' end, 200, 900 + n, 0.0017, now(), now()
  from generate_series(1, 240) n,
    lateral (select (array['jailbreak_detection', 'system_prompt_leakage', 'excessive_agency', 'pii_detection'])[1 + n % 4] as scorer) by`

/** A finished and a running score run, and a red-team run. Returns those to show. */
export async function fillPictureRuns(
  pool: pg.Pool,
  projectId: string,
): Promise<{ scoreRunId: string; redteamRunId: string }> {
  const project = idToUuid(projectId)
  const [scoreRunId, redteamRunId] = [newId('run'), newId('run')]
  await pool.query(scoreRunsSql, [idToUuid(scoreRunId), idToUuid(newId('run')), project])
  await pool.query(scoredAgainSql, [project, idToUuid(scoreRunId), idToUuid(liveRunId(projectId))])
  await pool.query(redteamRunsSql, [idToUuid(redteamRunId), project])
  await pool.query(attemptsSql, [idToUuid(redteamRunId), project])
  return { scoreRunId, redteamRunId }
}

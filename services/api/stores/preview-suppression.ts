import { idFromUuid, idToUuid, liveRunId } from '#schemas/ids.ts'
import { suppressionsOf, type SuppressionRule } from '#schemas/suppression.ts'
import { severities, type Severity } from '#schemas/verdicts.ts'
import type { OneProject, ProjectDatabase } from './project-database.ts'
import type { StoredFoundValue } from './score-store.ts'

/** The newest unsafe scores of the scorer that are compared: 2 to 4 MB of rows. */
const maxExamined = 10_000
const maxSamples = 5

export interface SuppressionPreview {
  examined: number
  /** False: there are more scores in that time than were compared. */
  is_complete: boolean
  covered: number
  scorers: { scorer_name: string; covered: number }[]
  sample_request_ids: string[]
}

interface ExaminedRow {
  request_id: string
  severity: Severity | null
  agent_name: string | null
  tool_name: string | null
  found_values: StoredFoundValue[] | null
  found_more: boolean | null
}

/** What a rule would have covered of the live scores of requests since `startMs`, by the sink's own rule. */
export async function previewSuppression(
  database: ProjectDatabase<OneProject>,
  rule: SuppressionRule,
  { startMs, nowMs }: { startMs: number; nowMs: number },
): Promise<SuppressionPreview> {
  const rows = await readExamined(database, rule, startMs)
  const compared = rows.slice(0, maxExamined)
  const covered = compared.filter(({ found_values, ...row }) => {
    const found = found_values?.map(({ hash, ...value }) => ({ ...value, hash: bytesOf(hash) })) ?? null
    const score = { ...row, scorer_name: rule.scorer_name, found_values: found }
    return suppressionsOf([rule], score, nowMs).length > 0
  })
  return {
    examined: compared.length,
    is_complete: rows.length <= maxExamined,
    covered: covered.length,
    scorers: covered.length === 0 ? [] : [{ scorer_name: rule.scorer_name, covered: covered.length }],
    sample_request_ids: [...new Set(covered.map(({ request_id }) => request_id))]
      .slice(0, maxSamples)
      .map((uuid) => idFromUuid('request', uuid)),
  }
}

// Bounded before it is joined: a scorer may have convicted millions of calls.
function readExamined(
  database: ProjectDatabase<OneProject>,
  { scorer_name, max_severity }: SuppressionRule,
  startMs: number,
): Promise<ExaminedRow[]> {
  return database.query<ExaminedRow>(
    `select s.request_id, s.severity, r.agent_name, r.tool_name, d.found_values, d.found_more from (
       select s.project_id, s.id, s.request_id, s.request_created_at, s.severity from safety_scores s
       where :scope(s) and s.run_id = $2 and s.scorer_name = $3 and s.score_label = 'unsafe' and s.request_created_at >= $4
         and s.severity = any ($5::text[])
       order by s.request_created_at desc, s.id desc limit $6
     ) s
     join llm_requests r on r.project_id = s.project_id and r.id = s.request_id and r.created_at = s.request_created_at and r.created_at >= $4
     left join safety_score_details d on d.project_id = s.project_id and d.score_id = s.id
       and d.request_created_at = s.request_created_at and d.request_created_at >= $4
     order by s.request_created_at desc, s.id desc`,
    [
      idToUuid(liveRunId(database.scope.projectId)),
      scorer_name,
      new Date(startMs),
      severities.slice(0, severities.indexOf(max_severity) + 1),
      maxExamined + 1,
    ],
  )
}

function bytesOf(hex: string | null): Buffer | null {
  return hex === null ? null : Buffer.from(hex, 'hex')
}

import type { FoundValue } from '#schemas/safety-score-recorded.ts'
import type { PlacedScore } from '../steps/place-score.ts'
import type { CopyColumn } from './copy-rows.ts'

/** The columns of safety_scores that a record, its project's suppressions and its finding fill. */
export const scoreColumns: readonly CopyColumn<PlacedScore>[] = [
  { name: 'project_id', type: 'uuid', value: ({ projectUuid }) => projectUuid },
  { name: 'request_id', type: 'uuid', value: ({ requestUuid }) => requestUuid },
  { name: 'request_created_at', type: 'timestamptz', value: ({ requestCreatedAtMs }) => requestCreatedAtMs },
  { name: 'id', type: 'uuid', value: ({ scoreUuid }) => scoreUuid },
  { name: 'run_id', type: 'uuid', value: ({ runUuid }) => runUuid },
  { name: 'scorer_name', type: 'text', value: ({ score }) => score.scorer_name },
  { name: 'score_value', type: 'float8', value: ({ score }) => score.score_value },
  { name: 'score_label', type: 'text', value: ({ score }) => score.score_label },
  { name: 'severity', type: 'text', value: ({ score }) => score.severity },
  { name: 'method', type: 'text', value: ({ score }) => score.method },
  { name: 'scorer_version', type: 'text', value: ({ score }) => score.scorer_version },
  { name: 'owasp_category', type: 'text', value: ({ score }) => score.owasp_category },
  { name: 'reason', type: 'text', value: ({ score }) => score.reason },
  { name: 'created_at', type: 'timestamptz', value: ({ score }) => score.scored_at },
  { name: 'suppressed_by', type: 'uuid', value: ({ suppressions: [first] }) => first ?? null },
  { name: 'finding_id', type: 'uuid', value: ({ findingUuid }) => findingUuid },
]

/** The columns of safety_score_details: sealed as they came. */
export const detailColumns: readonly CopyColumn<PlacedScore>[] = [
  { name: 'project_id', type: 'uuid', value: ({ projectUuid }) => projectUuid },
  { name: 'score_id', type: 'uuid', value: ({ scoreUuid }) => scoreUuid },
  { name: 'request_created_at', type: 'timestamptz', value: ({ requestCreatedAtMs }) => requestCreatedAtMs },
  { name: 'codec', type: 'text', value: ({ score }) => score.details?.codec ?? null },
  { name: 'key_id', type: 'text', value: ({ score }) => score.details?.key_id ?? null },
  { name: 'data', type: 'bytea', value: ({ score }) => score.details?.data ?? null },
  { name: 'found_values', type: 'jsonb', value: ({ score }) => foundJson(score.found_values) },
  { name: 'found_more', type: 'bool', value: ({ score }) => score.found_more },
]

/** Postgres refuses null characters and half surrogate pairs, which the scorer never sends. */
function foundJson(found: FoundValue[] | null): string | null {
  if (found === null) return null
  const values = found.map(({ kind, tool, hash }) => ({
    kind: kind.toWellFormed(),
    tool: tool?.toWellFormed() ?? null,
    hash: hash?.toString('hex') ?? null,
  }))
  return JSON.stringify(values).replaceAll('\\u0000', '\\ufffd')
}

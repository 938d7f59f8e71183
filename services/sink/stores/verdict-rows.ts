import type { CallVerdict } from '#schemas/call-reading.ts'
import type { ScoreLabel, Severity } from '#schemas/verdicts.ts'
import type { FoldedScores, Verdict } from '../steps/fold-verdicts.ts'

/** The columns of request_verdicts that fold a request's scores. */
export interface StoredScores {
  worst_label: ScoreLabel
  worst_severity: Severity | null
  score_count: number
  verdict: CallVerdict | null
  decided_count: number | null
  applicable_count: number | null
  unread_scorers: string[] | null
}

/** The columns that a write fills, in the order of `verdictValues`. */
export const verdictColumns = [
  ...['project_id', 'request_id', 'request_created_at', 'worst_label', 'worst_severity', 'score_count'],
  ...['verdict', 'decided_count', 'applicable_count', 'unread_scorers'],
].join(', ')

/** Rows `n` of the parameters that `verdictValues` makes. */
export const verdictRows = `unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::text[], $5::text[], $6::integer[],
  $7::text[], $8::integer[], $9::integer[], $10::jsonb[]) as n (${verdictColumns})`

/** Columns that take the value of `row` in an update. */
export const verdictUpdates = (row: 'n' | 'excluded') =>
  [
    'worst_label',
    'worst_severity',
    'score_count',
    'verdict',
    'decided_count',
    'applicable_count',
    'unread_scorers',
  ]
    .map((name) => `${name} = ${row}.${name}`)
    .join(', ')

/** $1 to $10 of a statement with `verdictRows`. */
export function verdictValues(verdicts: readonly Verdict[]): unknown[] {
  return [
    ...keyValues(verdicts),
    verdicts.map(({ worstLabel }) => worstLabel),
    verdicts.map(({ worstSeverity }) => worstSeverity),
    verdicts.map(({ scoreCount }) => scoreCount),
    verdicts.map(({ reading }) => reading?.verdict ?? null),
    verdicts.map(({ reading }) => reading?.decided ?? null),
    verdicts.map(({ reading }) => reading?.applicable ?? null),
    verdicts.map(({ reading }) => namesAsJson(reading?.unreadScorers ?? [])),
  ]
}

/** The first three of them: the keys. */
export function keyValues(verdicts: readonly Omit<Verdict, keyof FoldedScores>[]): unknown[] {
  return [
    verdicts.map(({ projectUuid }) => projectUuid),
    verdicts.map(({ requestUuid }) => requestUuid),
    verdicts.map(({ requestCreatedAtMs }) => new Date(requestCreatedAtMs)),
  ]
}

const namesAsJson = (names: readonly string[]) => (names.length === 0 ? null : JSON.stringify(names))

export function foldedOf(row: StoredScores): FoldedScores {
  return {
    worstLabel: row.worst_label,
    worstSeverity: row.worst_severity,
    scoreCount: row.score_count,
    reading:
      row.verdict === null
        ? null
        : {
            verdict: row.verdict,
            decided: row.decided_count ?? 0,
            applicable: row.applicable_count ?? 0,
            unreadScorers: row.unread_scorers ?? [],
          },
  }
}

import type { Client } from 'pg'
import { findingTargetMs } from '#schemas/finding.ts'
import { severities, type Severity } from '#schemas/verdicts.ts'
import { ok, warning, type Finding } from './finding.ts'

/** Whether findings wait for people longer than their severity allows: a warning, for nothing is broken. */
export async function examineFindings(client: Client): Promise<Finding[]> {
  const { rows } = await client.query<{ severity: Severity; late: number; projects: number }>(
    `select t.severity, count(*)::integer as late, count(distinct f.project_id)::integer as projects
     from unnest($1::text[], $2::float8[]) as t (severity, limit_ms)
     join findings f on f.severity = t.severity and f.state in ('open', 'acknowledged')
       and f.opened_at < now() - t.limit_ms * interval '1 millisecond' group by 1`,
    [severities, severities.map((severity) => findingTargetMs[severity])],
  )
  if (rows.length === 0) return [ok('findings', 'none is overdue')]
  const late = severities.toReversed().flatMap((severity) => {
    const row = rows.find((each) => each.severity === severity)
    return row === undefined ? [] : [`${row.late} ${severity} in ${row.projects} projects`]
  })
  return [
    warning(
      'findings',
      `overdue: ${late.join(', ')}`,
      'GET /api/findings?overdue=true lists them: acknowledging is not enough, resolve or mute them',
    ),
  ]
}

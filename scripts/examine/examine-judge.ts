import type { Client } from 'pg'
import { judgeRemedy, judgeSeenSql, neverSafeByDetectors } from '#schemas/judge-status.ts'
import { warning, type Finding } from './finding.ts'

/** What stays undecided while scorers run without a judge. Silent if one has a judge, or none runs. */
export async function examineJudge(client: Client): Promise<Finding[]> {
  const { rows } = await client.query<{ configured: boolean | null }>(judgeSeenSql)
  if (rows[0]?.configured !== false) return []
  const what = `none is configured: detectors find threats for every scorer, but never say safe for ${neverSafeByDetectors.join(', ')}`
  return [warning('judge', what, `${judgeRemedy}; docs/verdicts.md`)]
}

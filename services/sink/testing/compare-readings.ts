import type { Pool } from 'pg'
import { readScores, type CallReading, type ReadScore } from '#schemas/call-reading.ts'
import { idToUuid, liveRunId } from '#schemas/ids.ts'
import { foldedOf, type StoredScores } from '../stores/verdict-rows.ts'

type Readings = Record<string, CallReading | null>

/** What verdicts say of a project's calls, and what their live scores say. The two have to be the same. */
export async function storedAndReadAgain(
  pool: Pool,
  projectId: string,
): Promise<{ stored: Readings; readAgain: Readings }> {
  const { rows } = await pool.query<StoredScores & { request_id: string }>(
    'select * from request_verdicts where project_id = $1',
    [idToUuid(projectId)],
  )
  const { rows: scores } = await pool.query<ReadScore & { request_id: string }>(
    'select request_id, scorer_name, score_label, reason from safety_scores where project_id = $1 and run_id = $2',
    [idToUuid(projectId), idToUuid(liveRunId(projectId))],
  )
  const byRequest = Map.groupBy(scores, ({ request_id }) => request_id)
  return {
    stored: Object.fromEntries(rows.map((row) => [row.request_id, foldedOf(row).reading])),
    readAgain: Object.fromEntries([...byRequest].map(([id, own]) => [id, readScores(own)])),
  }
}

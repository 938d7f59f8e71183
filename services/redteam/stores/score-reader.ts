import type { Pool } from 'pg'
import { z } from 'zod'
import { PermanentError } from '#runtime/errors.ts'
import { query } from '#runtime/postgres.ts'
import type { Sealer } from '#runtime/sealing.ts'
import { idFromUuid, idTimeMs, idToUuid, liveRunId } from '#schemas/ids.ts'
import { sealedIdentity } from '#schemas/sealed-bytes.ts'
import type { ScoreLabel, Severity } from '#schemas/verdicts.ts'
import type { AttemptScore } from '../steps/decide-verdict.ts'

interface ScoreRow {
  id: string
  request_id: string
  scorer_name: string
  score_label: ScoreLabel
  severity: Severity | null
  reason: string | null
  codec: string | null
  key_id: string | null
  data: Buffer | null
}

const level = z.number().nullable()
const detailsSchema = z.object({
  levels: z.object({ request: level, answer: level, fail_at: z.number().optional() }).optional(),
  evidence: z.array(z.object({ part: z.string() })).default([]),
})

/** The live scores of a run's calls, by request. */
export type ReadScores = (requestIds: readonly string[]) => Promise<Map<string, AttemptScore[]>>

/**
 * Calls of a run have the run's time, so one day's partition is read. Details are opened only for unsafe
 * scores, where the side matters.
 */
export function createScoreReader(pool: Pool, sealer: Sealer, projectId: string): ReadScores {
  return async (requestIds) => {
    const [first] = requestIds
    if (first === undefined) return new Map()
    const { rows } = await query<ScoreRow>(
      pool,
      `select s.id, s.request_id, s.scorer_name, s.score_label, s.severity, s.reason, d.codec, d.key_id, d.data
       from safety_scores s left join safety_score_details d
         on d.project_id = s.project_id and d.score_id = s.id and d.request_created_at = s.request_created_at and s.score_label = 'unsafe'
       where s.project_id = $1 and s.run_id = $2 and s.request_created_at = $3 and s.request_id = any($4::uuid[])`,
      [
        idToUuid(projectId),
        idToUuid(liveRunId(projectId)),
        new Date(idTimeMs(first)),
        requestIds.map(idToUuid),
      ],
    )
    const scores = rows.map((row): [string, AttemptScore] => [
      idFromUuid('request', row.request_id),
      {
        scorer: row.scorer_name,
        label: row.score_label,
        severity: row.severity,
        reason: row.reason,
        ...openDetails(row, sealer, projectId),
      },
    ])
    return new Map(
      [...Map.groupBy(scores, ([requestId]) => requestId)].map(([requestId, pairs]) => [
        requestId,
        pairs.map(([, score]) => score),
      ]),
    )
  }
}

/** Details that cannot be opened say nothing about either side: no proof against the answer, and no pass. */
function openDetails({ id, codec, key_id, data }: ScoreRow, sealer: Sealer, projectId: string) {
  if (codec === null || data === null) return { evidence: null }
  try {
    const identity = sealedIdentity(projectId, idFromUuid('score', id), 'score_details')
    const json = sealer.open({ codec, key_id, data }, identity).toString('utf8')
    return detailsSchema.parse(JSON.parse(json))
  } catch (error) {
    if (error instanceof PermanentError) return { evidence: null }
    throw error
  }
}

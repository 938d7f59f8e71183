import type pg from 'pg'
import { previewOf } from '#capture/record/call-preview.ts'
import { toolCallsOf } from '#capture/tool-calls.ts'
import { readScores, type CallReading } from '#schemas/call-reading.ts'
import { idTimeMs, idToUuid, liveRunId, newId, scoreId } from '#schemas/ids.ts'
import { sealedIdentity } from '#schemas/sealed-bytes.ts'
import { inTransaction } from '#runtime/postgres.ts'
import type { Sealer } from '#runtime/sealing.ts'
import { addTo, createTally } from '#services/sink/steps/tally-rollups.ts'
import { createRollupStore } from '#services/sink/stores/rollup-store.ts'
import { callRollups, scoreRollups, verdictRollups } from '#services/sink/stores/rollup-tables.ts'

export interface SeededScore {
  scorer: string
  value: number | null
  label: 'safe' | 'unsafe' | 'unscored'
  severity?: 'medium' | 'high' | 'critical'
  /** The judge's model, and what it said. */
  judge?: object
  rationale?: string
  evidence?: readonly object[]
  owasp?: string
}

export interface SeededRequest {
  projectId: string
  id?: string
  model?: string
  agentName?: string
  sessionId?: string
  metadata?: object
  requestBody?: string
  responseBody?: string
  scores?: readonly SeededScore[]
}

/** Writes a request with bodies, live scores and counts as the sink does. Returns its identifier. */
export async function seedRequest(pool: pg.Pool, sealer: Sealer, seeded: SeededRequest): Promise<string> {
  const { projectId, id = newId('request'), requestBody = '{}', responseBody = null, scores = [] } = seeded
  const identity = [idToUuid(projectId), idToUuid(id), new Date(idTimeMs(id))]
  await pool.query('select ensure_day_partitions($1::date)', [
    new Date(idTimeMs(id)).toISOString().slice(0, 10),
  ])
  await pool.query(
    `insert into llm_requests (project_id, id, created_at, source, model, agent_name, metadata, session_id, zero_content_retention, received_at)
     values ($1, $2, $3, 'api', $4, $5, $6, $7, false, $3)`,
    [
      ...identity,
      seeded.model ?? 'gpt-4o-mini',
      seeded.agentName ?? null,
      seeded.metadata === undefined ? null : JSON.stringify(seeded.metadata),
      seeded.sessionId ?? null,
    ],
  )
  const request = sealer.seal(Buffer.from(requestBody), sealedIdentity(projectId, id, 'request_body'))
  const response =
    responseBody === null
      ? null
      : sealer.seal(Buffer.from(responseBody), sealedIdentity(projectId, id, 'response_body'))
  await pool.query('insert into llm_request_bodies values ($1, $2, $3, $4, $5, $6, $7, $8, $9)', [
    ...identity,
    request.codec,
    request.key_id,
    request.data,
    response?.codec ?? null,
    response?.key_id ?? null,
    response?.data ?? null,
  ])
  const preview = previewOfBodies(requestBody, responseBody)
  if (preview !== null) {
    const { codec, key_id, data } = sealer.seal(preview, sealedIdentity(projectId, id, 'call_preview'))
    await pool.query('insert into request_previews values ($1, $2, $3, $4, $5, $6)', [
      ...identity,
      ...[codec, key_id, data],
    ])
  }
  for (const score of scores) await seedScore(pool, sealer, { projectId, id, score })
  if (scores.length > 0) {
    const unsafe = scores.find(({ label }) => label === 'unsafe')
    const { verdict, decided, applicable } = readingOf(scores)
    await pool.query('insert into request_verdicts values ($1, $2, $3, $4, $5, $6, $7, $8, $9, null, 1)', [
      ...identity,
      unsafe?.label ?? 'safe',
      unsafe?.severity ?? null,
      scores.length,
      ...[verdict, decided, applicable],
    ])
  }
  await countRequest(pool, { ...seeded, id })
  return id
}

function previewOfBodies(requestBody: string, responseBody: string | null): Buffer | null {
  const [request, response] = [requestBody, responseBody ?? 'null'].map((text) => JSON.parse(text) as unknown)
  return previewOf(request, response, toolCallsOf(request, response))
}

function readingOf(scores: readonly SeededScore[]): CallReading {
  return readScores(
    scores.map(({ scorer, label }) => ({ scorer_name: scorer, score_label: label, reason: 'no_text' })),
  )
}

async function countRequest(pool: pg.Pool, seeded: SeededRequest & { id: string }): Promise<void> {
  const { projectId, id, scores = [] } = seeded
  const [projectUuid, atMs, source] = [idToUuid(projectId), idTimeMs(id), 'api']
  const [calls, scored, read] = [createTally(), createTally(), createTally()]
  const model = seeded.model ?? 'gpt-4o-mini'
  const ofCall = { source, model, provider: null, agent_name: seeded.agentName ?? null }
  const sums = calls.sumsOf(projectUuid, atMs, ofCall)
  addTo(sums, 'calls', 1)
  const unsafe = scores.find(({ label }) => label === 'unsafe')
  if (scores.length > 0) addTo(sums, `verdict_${unsafe?.label ?? 'safe'}`, 1)
  if (unsafe?.severity !== undefined) addTo(sums, `severity_${unsafe.severity}`, 1)
  if (scores.length > 0) {
    const { verdict, decided, applicable } = readingOf(scores)
    const readings = read.sumsOf(projectUuid, atMs, { ...ofCall, verdict })
    addTo(readings, 'calls', 1)
    addTo(readings, 'decided', decided)
    addTo(readings, 'applicable', applicable)
  }
  const run_id = idToUuid(liveRunId(projectId))
  for (const { scorer, label, severity = null } of scores) {
    const ofScore = { run_id, source, scorer_name: scorer, score_label: label, severity }
    addTo(scored.sumsOf(projectUuid, atMs, ofScore), 'scores', 1)
  }
  await inTransaction(pool, async (client) => {
    await createRollupStore().add(client, callRollups, 0, calls.rows())
    await createRollupStore().add(client, scoreRollups, 0, scored.rows())
    await createRollupStore().add(client, verdictRollups, 0, read.rows())
  })
}

async function seedScore(
  pool: pg.Pool,
  sealer: Sealer,
  { projectId, id, score }: { projectId: string; id: string; score: SeededScore },
): Promise<void> {
  const runId = liveRunId(projectId)
  const own = scoreId(projectId, id, score.scorer, runId)
  const time = new Date(idTimeMs(id))
  await pool.query(
    `insert into safety_scores (project_id, request_id, request_created_at, id, run_id, scorer_name, score_value, score_label,
       severity, owasp_category, method, scorer_version, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, '1', now())`,
    [
      idToUuid(projectId),
      idToUuid(id),
      time,
      idToUuid(own),
      idToUuid(runId),
      score.scorer,
      score.value,
      score.label,
      score.severity ?? null,
      score.owasp ?? null,
      score.judge === undefined ? 'detector' : 'judge',
    ],
  )
  const details = Buffer.from(
    JSON.stringify({
      rationale: score.rationale ?? `because of ${score.scorer}`,
      evidence: score.evidence ?? [{ at: 1 }],
      judge: score.judge,
    }),
  )
  const sealed = sealer.seal(details, sealedIdentity(projectId, own, 'score_details'))
  await pool.query('insert into safety_score_details values ($1, $2, $3, $4, $5, $6)', [
    idToUuid(projectId),
    idToUuid(own),
    time,
    sealed.codec,
    sealed.key_id,
    sealed.data,
  ])
}

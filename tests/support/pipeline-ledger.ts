import pg from 'pg'
import { idFromUuid } from '#schemas/ids.ts'
import type { ScoreLabel } from '#schemas/verdicts.ts'

export interface StoredScore {
  requestId: string
  scorerName: string
  label: ScoreLabel
}

/** What Postgres holds at the end, for comparison with what clients sent and receivers got. */
export interface PipelineLedger {
  /** Request ids, one entry per stored row. */
  stored: string[]
  scores: StoredScore[]
  /** Calls counted against limits in the period, over all projects. */
  counted: number
  /** Rows of event_outbox that the relay has not published. */
  unpublished: number
}

export async function readLedger(databaseUrl: string): Promise<PipelineLedger> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const requests = await client.query<{ id: string }>('select id from llm_requests')
    const scores = await client.query<{ request_id: string; scorer_name: string; score_label: ScoreLabel }>(
      'select request_id, scorer_name, score_label from safety_scores',
    )
    const periods = await client.query<{ count: number }>(
      'select coalesce(sum(requests_this_period), 0)::int as count from subscriptions',
    )
    const outbox = await client.query<{ count: number }>(
      'select count(*)::int as count from event_outbox where published_at is null',
    )
    return {
      stored: requests.rows.map(({ id }) => idFromUuid('request', id)),
      scores: scores.rows.map((row) => ({
        requestId: idFromUuid('request', row.request_id),
        scorerName: row.scorer_name,
        label: row.score_label,
      })),
      counted: periods.rows[0]?.count ?? 0,
      unpublished: outbox.rows[0]?.count ?? 0,
    }
  } finally {
    await client.end()
  }
}

/** Failing scores as `request/scorer`. Each must reach a receiver once. */
export function failingScores(ledger: PipelineLedger): string[] {
  return ledger.scores
    .filter(({ label }) => label === 'unsafe')
    .map(({ requestId, scorerName }) => `${requestId}/${scorerName}`)
    .sort()
}

/** The distinct sets of scorers that scored a call: one if all calls were scored alike. */
export function scorerSets(ledger: PipelineLedger): string[][] {
  const byRequest = Map.groupBy(ledger.scores, ({ requestId }) => requestId)
  const sets = new Set(
    [...byRequest.values()].map((scores) =>
      scores
        .map((score) => score.scorerName)
        .sort()
        .join(),
    ),
  )
  return [...sets].map((set) => set.split(','))
}

/** Progress of a pipeline, for the error of a test that waits. */
export function describeLedger({ stored, scores, unpublished }: PipelineLedger, sent: number): string {
  return `${sent} sent, ${stored.length} stored, ${scores.length} scores, ${unpublished} events unpublished`
}

import type { Pool } from 'pg'
import { systemClock } from '#runtime/clock.ts'
import { idToUuid, liveRunId, newId, scoreId } from '#schemas/ids.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import type { Score } from '#schemas/safety-score-recorded.ts'
import { promoteCalls } from '../runs/promote-runs.ts'
import { placeScores, type PlacedScore } from '../steps/place-score.ts'
import { createRollupStore } from '../stores/rollup-store.ts'
import { lockRun } from '../stores/run-store.ts'
import { createScoreStore } from '../stores/score-store.ts'
import type { createErasingFixture } from './erasing-fixture.ts'
import { many, sampleCall, sampleScore, sampleScoredCall } from './sample-records.ts'

/** What a test file has: its database, and what stores there as sinks do. */
interface World {
  readonly pool: Pool
  readonly fixture: ReturnType<typeof createErasingFixture>
}

interface KeptFinding {
  kind: string
  state: string
  /** Null: no counter. */
  count: number | null
  live: number
  values: number
  comments: number
}

/** Stores, promotes and reads what findings are made of. */
export function createFindingFixture(world: World) {
  async function storedCalls(count: number, changes: Partial<LoggedCall> = {}): Promise<LoggedCall[]> {
    const projectId = await world.fixture.addProject()
    const nowMs = Date.now()
    const calls = many(count, (index) =>
      sampleCall(projectId, { id: newId('request', nowMs + index), ...changes }),
    )
    await world.fixture.store(calls)
    return calls
  }

  function scoresOf(call: LoggedCall, changes: Partial<Score> = {}, run?: string): PlacedScore[] {
    const run_id = run ?? liveRunId(call.project_id)
    const id = scoreId(call.project_id, call.id, 'pii_detection', run_id)
    const made = sampleScore(call.project_id, call.id, { ...changes, id })
    return placeScores(sampleScoredCall(call, { run_id, scores: [made] }))
  }

  /** As a sink stores what it reads from a partition. */
  const store = (scores: readonly PlacedScore[], partition = 0, pool = world.pool) =>
    createScoreStore(pool, createRollupStore()).store(scores, partition, () => [])

  const score = (call: LoggedCall, changes: Partial<Score> = {}, run?: string) =>
    store(scoresOf(call, changes, run))

  async function promote(call: LoggedCall, runId: string, pool = world.pool): Promise<void> {
    await world.pool.query(
      `insert into score_runs (id, project_id, start_at, end_at, source, alert, status, calls_total, created_at)
       values ($1, $2, now() - interval '1 hour', now() + interval '1 hour', 'postgres', false, 'promoting', 1, now())
       on conflict (id) do update set status = 'promoting', cursor_project = null, cursor_at = null, cursor_id = null`,
      [idToUuid(runId), idToUuid(call.project_id)],
    )
    const client = await pool.connect()
    try {
      await client.query('begin')
      const run = await lockRun(client, ['promoting'], idToUuid(runId))
      if (run === undefined) throw new Error('there is no such run')
      await promoteCalls(client, run, { rollups: createRollupStore(), clock: systemClock })
      await client.query('commit')
    } finally {
      client.release()
    }
  }

  /** What is kept of a project's findings, with a count of its live scores by SQL. */
  async function keptOf(projectId: string) {
    const { rows } = await world.pool.query<KeptFinding>(
      `select f.evidence_kind as kind, f.state,
         (select sum(count)::integer from finding_counters c where c.project_id = f.project_id and c.finding_id = f.id) as count,
         (select count(*)::integer from safety_scores s where s.project_id = f.project_id and s.finding_id = f.id and s.run_id = $2) as live,
         (select count(distinct hash)::integer from finding_values v where v.project_id = f.project_id and v.finding_id = f.id) as values,
         (select count(*)::integer from finding_comments v where v.project_id = f.project_id and v.finding_id = f.id) as comments
       from findings f where f.project_id = $1 order by f.evidence_kind`,
      [idToUuid(projectId), idToUuid(liveRunId(projectId))],
    )
    return rows
  }

  async function comment(projectId: string): Promise<void> {
    await world.pool.query(
      `insert into finding_comments (project_id, id, finding_id, author, author_kind, text, created_at)
       select project_id, gen_random_uuid(), id, 'ana', 'person', 'quotes', now() from findings where project_id = $1`,
      [idToUuid(projectId)],
    )
  }

  return { storedCalls, scoresOf, store, score, promote, keptOf, comment }
}

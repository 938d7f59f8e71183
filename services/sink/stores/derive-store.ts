import type { ClientBase } from 'pg'
import type { Score } from '#schemas/safety-score-recorded.ts'
import type { VerdictChange } from '../steps/count-scores.ts'
import { foldScore, joinVerdicts, type FoldedScores, type Verdict } from '../steps/fold-verdicts.ts'
import { placeValues, type CountedCall } from './lock-calls.ts'
import {
  foldedOf,
  verdictColumns,
  verdictRows,
  verdictUpdates,
  verdictValues,
  type StoredScores,
} from './verdict-rows.ts'

/** A live score, as far as verdicts need it. */
type LiveScore = Pick<Score, 'scorer_name' | 'score_label' | 'severity' | 'reason'> & { request_id: string }

// With the bounds $2 and $3 Postgres skips the other days' partitions before it locks them.
const wantedSql = `unnest($4::uuid[], $5::timestamptz[]) as wanted (request_id, created_at)`

const ofWanted = (alias: string) => `${alias}.project_id = $1 and ${alias}.request_id = wanted.request_id
  and ${alias}.request_created_at = wanted.created_at and ${alias}.request_created_at between $2 and $3`

/** Rewrites the verdicts of these calls, which are locked, from their live scores. Returns what changed. */
export async function rederiveVerdicts(
  client: ClientBase,
  { projectUuid, liveRunUuid }: { projectUuid: string; liveRunUuid: string },
  calls: readonly CountedCall[],
): Promise<VerdictChange[]> {
  const { rows: stored } = await client.query<StoredScores & { request_id: string }>(
    `select v.* from ${wantedSql} join request_verdicts v on ${ofWanted('v')} order by v.request_id for update of v`,
    placeValues(projectUuid, calls),
  )
  const { rows: scores } = await client.query<LiveScore>(
    `select s.request_id, s.scorer_name, s.score_label, s.severity, s.reason
     from ${wantedSql} join safety_scores s on ${ofWanted('s')} and s.run_id = $6`,
    [...placeValues(projectUuid, calls), liveRunUuid],
  )
  const before = new Map(stored.map((row) => [row.request_id, foldedOf(row)] as const))
  const folded = foldByRequest(scores)
  const changes = calls.map((call): VerdictChange & { of: VerdictKey } => ({
    of: { call, projectUuid, requestUuid: call.id, requestCreatedAtMs: call.created_at.getTime() },
    before: before.get(call.id),
    // Without live scores the verdict stays.
    after: folded.get(call.id) ?? before.get(call.id),
  }))
  await writeVerdicts(
    client,
    changes.flatMap(({ of, after }) => (after === undefined ? [] : [{ ...of, ...after } as Verdict])),
  )
  return changes
}

type VerdictKey = Omit<Verdict, keyof FoldedScores>

function foldByRequest(scores: readonly LiveScore[]): Map<string, FoldedScores> {
  const folded = new Map<string, FoldedScores>()
  for (const score of scores) {
    const known = folded.get(score.request_id)
    const own = foldScore(score)
    folded.set(score.request_id, known === undefined ? own : joinVerdicts(known, own))
  }
  return folded
}

async function writeVerdicts(client: ClientBase, verdicts: readonly Verdict[]): Promise<void> {
  if (verdicts.length === 0) return
  await client.query(
    `insert into request_verdicts as v (${verdictColumns}, reading_revision) select n.*, 1 from ${verdictRows}
     on conflict (project_id, request_id, request_created_at) do update
     set ${verdictUpdates('excluded')}, reading_revision = coalesce(v.reading_revision, 0) + 1`,
    verdictValues(verdicts),
  )
}

/** A call whose reading is to be derived from its scores. */
export interface UnderivedCall {
  project_id: string
  id: string
  created_at: Date
}

/** The newest of these calls, by project. */
export async function findUnderived(client: ClientBase, limit: number): Promise<UnderivedCall[]> {
  const { rows } = await client.query<UnderivedCall>(
    `select * from (
       select project_id, request_id as id, request_created_at as created_at from request_verdicts
       where reading_revision is null order by request_created_at desc limit $1
     ) newest order by 1, 3, 2`,
    [limit],
  )
  return rows
}

/** Takes calls off the list that have lost their row or their scores: they keep no reading. */
export async function giveUpReadings(client: ClientBase, calls: readonly UnderivedCall[]): Promise<void> {
  await client.query(
    `update request_verdicts v set reading_revision = 1
     from unnest($1::uuid[], $2::uuid[], $3::timestamptz[]) as n (project_id, request_id, request_created_at)
     where v.project_id = n.project_id and v.request_id = n.request_id and v.request_created_at = n.request_created_at
       and v.reading_revision is null`,
    [
      calls.map(({ project_id: project }) => project),
      calls.map(({ id }) => id),
      calls.map(({ created_at }) => created_at),
    ],
  )
}

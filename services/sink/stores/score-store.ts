import type { ClientBase, Pool } from 'pg'
import { inTransaction } from '#runtime/postgres.ts'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import { severities } from '#schemas/verdicts.ts'
import { foldVerdicts, labelsByBadness, type Verdict } from '../steps/fold-verdicts.ts'
import type { PlacedScore } from '../steps/place-score.ts'
import { copyRows } from './copy-rows.ts'
import { insertEvents } from './outbox-store.ts'
import { detailColumns, scoreColumns } from './score-columns.ts'
import { stageRows } from './stage-rows.ts'
import { asUnstorable } from './unstorable.ts'

export interface StoredScores {
  /** Those that were not there before: the first score of a scorer, a request and a run stays. */
  added: PlacedScore[]
  /** How many belong to a request that is not there (any more). */
  missed: number
  /** Events written to the outbox. */
  eventCount: number
}

export interface ScoreStore {
  /**
   * Stores scores with their details, the verdicts of their requests and the events that `eventsOf` makes of the ones really added,
   * in one transaction. Throws as CallStore does.
   */
  store(
    scores: readonly PlacedScore[],
    eventsOf: (added: readonly PlacedScore[]) => RaisedEvent[],
  ): Promise<StoredScores>
}

export function createScoreStore(pool: Pool): ScoreStore {
  return {
    async store(scores, eventsOf) {
      if (scores.length === 0) return { added: [], missed: 0, eventCount: 0 }
      try {
        return await inTransaction(pool, (client) => storeScores(client, scores, eventsOf))
      } catch (error) {
        throw asUnstorable(error)
      }
    },
  }
}

async function storeScores(
  client: ClientBase,
  scores: readonly PlacedScore[],
  eventsOf: (added: readonly PlacedScore[]) => RaisedEvent[],
): Promise<StoredScores> {
  await stageRows(client, 'staged_scores', scoreColumns, scores)
  const added = await insertScores(client, scores)
  const missed = added.length === scores.length ? 0 : await countMisses(client)
  const detailed = added.filter(({ score }) => score.details !== null)
  if (detailed.length > 0) await copyRows(client, 'safety_score_details', detailColumns, detailed)
  const events = eventsOf(added)
  await insertEvents(client, events)
  await moveVerdicts(client, foldVerdicts(added))
  return { added, missed, eventCount: events.length }
}

// LIMIT keeps the planner from hashing a whole day of requests against a temporary table that it has no statistics of.
const requestOfStaged = `lateral (
  select from llm_requests where llm_requests.project_id = staged_scores.project_id
  and llm_requests.id = staged_scores.request_id and llm_requests.created_at = staged_scores.request_created_at limit 1
)`

async function insertScores(client: ClientBase, scores: readonly PlacedScore[]): Promise<PlacedScore[]> {
  const names = scoreColumns.map(({ name }) => name).join(', ')
  const { rows } = await client.query<{ project_id: string; id: string }>(
    `insert into safety_scores (${names}) select ${names} from staged_scores cross join ${requestOfStaged} as request
     order by project_id, id, place on conflict do nothing returning project_id, id`,
  )
  const inserted = new Set(rows.map((row) => `${row.project_id}/${row.id}`))
  return scores.filter(({ identity }) => inserted.delete(identity))
}

async function countMisses(client: ClientBase): Promise<number> {
  const { rows } = await client.query<{ missed: number }>(
    `select count(*)::integer as missed from staged_scores
     left join ${requestOfStaged.replace('select from', 'select true as present from')} as request on true
     where request.present is null`,
  )
  return rows[0]?.missed ?? 0
}

const worseOf = (fromBest: readonly string[], column: string) => {
  const ranks = `array[${fromBest.map((word) => `'${word}'`).join(', ')}]`
  const rank = (row: string) => `coalesce(array_position(${ranks}, ${row}.${column}), 0)`
  return `case when ${rank('excluded')} > ${rank('request_verdicts')} then excluded.${column} else request_verdicts.${column} end`
}

const moveVerdictsSql = `
  insert into request_verdicts (project_id, request_id, request_created_at, worst_label, worst_severity, score_count)
  select * from unnest($1::uuid[], $2::uuid[], $3::timestamptz[], $4::text[], $5::text[], $6::integer[])
  on conflict (project_id, request_id, request_created_at) do update set
    worst_label = ${worseOf(labelsByBadness, 'worst_label')},
    worst_severity = ${worseOf(severities, 'worst_severity')},
    score_count = request_verdicts.score_count + excluded.score_count`

async function moveVerdicts(client: ClientBase, verdicts: readonly Verdict[]): Promise<void> {
  if (verdicts.length === 0) return
  await client.query(moveVerdictsSql, [
    verdicts.map(({ projectUuid }) => projectUuid),
    verdicts.map(({ requestUuid }) => requestUuid),
    verdicts.map(({ requestCreatedAtMs }) => new Date(requestCreatedAtMs)),
    verdicts.map(({ worstLabel }) => worstLabel),
    verdicts.map(({ worstSeverity }) => worstSeverity),
    verdicts.map(({ scoreCount }) => scoreCount),
  ])
}

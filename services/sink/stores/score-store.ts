import type { ClientBase, Pool } from 'pg'
import { inTransaction } from '#runtime/postgres.ts'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import { countReadings, countScores, countVerdicts } from '../steps/count-scores.ts'
import { countLabelledVerdicts, countScoreMinutes } from '../steps/count-minutes.ts'
import { foldVerdicts } from '../steps/fold-verdicts.ts'
import type { PlacedScore } from '../steps/place-score.ts'
import { ofKeptDays } from './content-days.ts'
import { copyRows } from './copy-rows.ts'
import { insertEvents } from './outbox-store.ts'
import { timeBounds } from './time-bounds.ts'
import { detailColumns, scoreColumns } from './score-columns.ts'
import type { RollupStore } from './rollup-store.ts'
import {
  callMinutes,
  callRollups,
  labelRollups,
  laneOf,
  scoreMinutes,
  scoreRollups,
  userRollups,
  verdictRollups,
} from './rollup-tables.ts'
import { stageRows } from './stage-rows.ts'
import { asRefusedRecord } from './refused-record.ts'
import { createFindingStore, type FindingStore } from './finding-store.ts'
import { createSuppressionStore, type SuppressionStore } from './suppression-store.ts'
import { moveVerdicts } from './verdict-store.ts'

export interface StoredScores {
  /** Those that were not there before: the first score of a scorer, a request and a run stays. */
  added: PlacedScore[]
  /** How many belong to a request that is not there (any more). */
  missed: number
  /** Events written to the outbox. */
  eventCount: number
  /** Series that the roll-ups had no room for. */
  overflowCount: number
  /** Scores whose findings the project had no room for. */
  findingOverflow: number
}

export interface ScoreStore {
  /**
   * Stores a partition's scores with their details, findings, verdicts, roll-ups and the events that
   * `eventsOf` makes of the added ones, in one transaction. Throws as CallStore does.
   */
  store(
    scores: readonly PlacedScore[],
    partition: number,
    eventsOf: (added: readonly PlacedScore[]) => RaisedEvent[],
  ): Promise<StoredScores>
}

export function createScoreStore(
  pool: Pool,
  rollups: RollupStore,
  suppressions: SuppressionStore = createSuppressionStore(),
  findings: FindingStore = createFindingStore(),
): ScoreStore {
  return {
    async store(scores, partition, eventsOf) {
      if (scores.length === 0) return nothing
      try {
        return await inTransaction(pool, async (client) => {
          const lane = laneOf('scores', partition)
          const marked = await findings.assign(client, await suppressions.mark(client, scores))
          const stored = await storeScores(client, marked.scores, { findings, lane, eventsOf })
          await suppressions.count(client, stored.added, lane)
          const overflowCount = await countIn(client, rollups, stored, lane)
          return { ...stored, overflowCount, findingOverflow: marked.overflowCount }
        })
      } catch (error) {
        throw asRefusedRecord(error)
      }
    },
  }
}

const nothing: StoredScores = {
  added: [],
  missed: 0,
  eventCount: 0,
  overflowCount: 0,
  findingOverflow: 0,
}

interface AddedScores {
  findings: FindingStore
  lane: number
  eventsOf: (added: readonly PlacedScore[]) => RaisedEvent[]
}

async function storeScores(
  client: ClientBase,
  scores: readonly PlacedScore[],
  { findings, lane, eventsOf }: AddedScores,
): Promise<Omit<StoredScores, 'overflowCount' | 'findingOverflow'>> {
  await stageRows(client, 'staged_scores', scoreColumns, scores)
  const added = await insertScores(client, scores)
  const missed = added.length === scores.length ? 0 : await countMisses(client, scores)
  await insertDetails(client, added)
  const counted = await findings.count(client, added, lane)
  const events = [...counted.events, ...eventsOf(counted.added)]
  await insertEvents(client, events)
  return { added: counted.added, missed, eventCount: events.length }
}

async function insertDetails(client: ClientBase, added: readonly PlacedScore[]): Promise<void> {
  const table = 'safety_score_details'
  const detailed = added.filter(({ score }) => score.details !== null)
  const kept = await ofKeptDays(client, table, detailed, ({ requestCreatedAtMs }) => requestCreatedAtMs)
  if (kept.length > 0) await copyRows(client, table, detailColumns, kept)
}

/** Moves the verdicts and adds up the roll-ups: last, because others may wait for their rows. */
async function countIn(
  client: ClientBase,
  rollups: RollupStore,
  { added }: Pick<StoredScores, 'added'>,
  lane: number,
): Promise<number> {
  const changes = await moveVerdicts(client, foldVerdicts(added))
  const { calls, users } = countVerdicts(changes)
  const verdicts = await rollups.add(client, callRollups, lane, calls)
  const readings = await rollups.add(client, verdictRollups, lane, countReadings(changes))
  const counts = countLabelledVerdicts(changes, await rollups.readLabeller(client))
  await rollups.add(client, callMinutes, lane, counts.minutes)
  const labels = await rollups.add(client, labelRollups, lane, counts.labels)
  // Users beyond the bound were counted with their calls.
  await rollups.add(client, userRollups, lane, users)
  await rollups.add(client, scoreMinutes, lane, countScoreMinutes(added))
  return verdicts + readings + labels + (await rollups.add(client, scoreRollups, lane, countScores(added)))
}

// LIMIT keeps the planner from hashing a whole day of requests against a temporary table without statistics.
// With the bounds $1 and $2 Postgres locks only their days' partitions.
const requestOfStaged = `lateral (
  select from llm_requests where llm_requests.project_id = staged_scores.project_id
  and llm_requests.id = staged_scores.request_id and llm_requests.created_at = staged_scores.request_created_at
  and llm_requests.created_at between $1 and $2 limit 1
)`

const timesOf = (scores: readonly PlacedScore[]) =>
  timeBounds(scores, ({ requestCreatedAtMs }) => requestCreatedAtMs)

/** In the calls' order, in which promotions lock them: the foreign keys lock them as well. */
async function insertScores(client: ClientBase, scores: readonly PlacedScore[]): Promise<PlacedScore[]> {
  const names = scoreColumns.map(({ name }) => name).join(', ')
  const { rows } = await client.query<{ project_id: string; id: string }>(
    `insert into safety_scores (${names}) select ${names} from staged_scores cross join ${requestOfStaged} as request
     order by project_id, request_created_at, request_id, id, place on conflict do nothing returning project_id, id`,
    timesOf(scores),
  )
  const inserted = new Set(rows.map((row) => `${row.project_id}/${row.id}`))
  return scores.filter(({ identity }) => inserted.delete(identity))
}

async function countMisses(client: ClientBase, scores: readonly PlacedScore[]): Promise<number> {
  const { rows } = await client.query<{ missed: number }>(
    `select count(*)::integer as missed from staged_scores
     left join ${requestOfStaged.replace('select from', 'select true as present from')} as request on true
     where request.present is null`,
    timesOf(scores),
  )
  return rows[0]?.missed ?? 0
}

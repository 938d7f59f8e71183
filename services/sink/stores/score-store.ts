import type { ClientBase, Pool } from 'pg'
import { PermanentError } from '#runtime/errors.ts'
import { createGroupCommit } from '#runtime/group-commit.ts'
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

/** Counts of a shared transaction are those of its first partition; the others have 0. */
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
   * `eventsOf` makes of the added ones, in one transaction, which partitions stored at the same time share.
   * Throws as CallStore does.
   */
  store(scores: readonly PlacedScore[], partition: number, eventsOf: EventsOf): Promise<StoredScores>
}

type EventsOf = (added: readonly PlacedScore[]) => RaisedEvent[]

/** One partition's share of a transaction. */
interface ScorePart {
  scores: readonly PlacedScore[]
  partition: number
  eventsOf: EventsOf
}

/** Scores of one transaction. Beyond this its fixed cost is small. */
const maxScoresTogether = 5_000

export function createScoreStore(
  pool: Pool,
  rollups: RollupStore,
  suppressions: SuppressionStore = createSuppressionStore(),
  findings: FindingStore = createFindingStore(),
): ScoreStore {
  const storeParts = (parts: readonly ScorePart[]) =>
    inTransaction(pool, async (client) => {
      const lane = laneOf('scores', parts[0]?.partition ?? 0)
      const given = parts.flatMap(({ scores }) => scores)
      const marked = await findings.assign(client, await suppressions.mark(client, given))
      const stored = await storeScores(client, marked.scores, { findings, lane, parts })
      await suppressions.count(client, stored.added, lane)
      const overflowCount = await countIn(client, rollups, stored, lane)
      const { eventCount } = stored
      return divide(parts, stored, { eventCount, overflowCount, findingOverflow: marked.overflowCount })
    }).catch((error: unknown) => {
      throw asRefusedRecord(error)
    })
  const together = createGroupCommit<ScorePart, StoredScores>({
    run: storeParts,
    isOfOne: (error) => error instanceof PermanentError,
    weightOf: ({ scores }) => scores.length,
    maxWeight: maxScoresTogether,
  })
  return {
    store: (scores, partition, eventsOf) =>
      scores.length === 0
        ? Promise.resolve({ ...noCounts, added: [], missed: 0 })
        : together({ scores, partition, eventsOf }),
  }
}

const noCounts = { eventCount: 0, overflowCount: 0, findingOverflow: 0 }

interface Together {
  added: PlacedScore[]
  addedTo: ReadonlyMap<ScorePart | undefined, PlacedScore[]>
  /** Places, in the order of the parts, of scores whose request is not there. */
  missedPlaces: ReadonlySet<number>
}

/** Each partition's own part of what was stored. */
function divide(
  parts: readonly ScorePart[],
  { addedTo, missedPlaces }: Together,
  counts: typeof noCounts,
): StoredScores[] {
  let place = 0
  return parts.map((part, index) => {
    const missed = part.scores.filter(() => missedPlaces.has(place++)).length
    return { added: addedTo.get(part) ?? [], missed, ...(index === 0 ? counts : noCounts) }
  })
}

function addedByPart(
  parts: readonly ScorePart[],
  added: readonly PlacedScore[],
): Map<ScorePart | undefined, PlacedScore[]> {
  const partOf = new Map(parts.flatMap((part) => part.scores.map(({ call }) => [call, part] as const)))
  return Map.groupBy(added, ({ call }) => partOf.get(call))
}

interface AddedScores {
  findings: FindingStore
  lane: number
  parts: readonly ScorePart[]
}

async function storeScores(
  client: ClientBase,
  scores: readonly PlacedScore[],
  { findings, lane, parts }: AddedScores,
): Promise<Together & { eventCount: number }> {
  await stageRows(client, 'staged_scores', scoreColumns, scores)
  const added = await insertScores(client, scores)
  const missedPlaces = added.length === scores.length ? new Set<number>() : await findMissed(client, scores)
  await insertDetails(client, added)
  const counted = await findings.count(client, added, lane)
  const addedTo = addedByPart(parts, counted.added)
  const events = [...counted.events, ...parts.flatMap((part) => part.eventsOf(addedTo.get(part) ?? []))]
  await insertEvents(client, events)
  return { added: counted.added, addedTo, missedPlaces, eventCount: events.length }
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
  { added }: Pick<Together, 'added'>,
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

/** The places in `scores` of those whose request is not there. */
async function findMissed(client: ClientBase, scores: readonly PlacedScore[]): Promise<Set<number>> {
  const { rows } = await client.query<{ place: number }>(
    `select place from staged_scores
     left join ${requestOfStaged.replace('select from', 'select true as present from')} as request on true
     where request.present is null`,
    timesOf(scores),
  )
  return new Set(rows.map(({ place }) => place))
}

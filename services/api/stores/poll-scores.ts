import { invalidInput, type Problem } from '#http/problem.ts'
import { positionBefore, type PollPosition } from '../http/poll-cursor.ts'
import type { Conditions } from './conditions.ts'
import type { OneProject, ProjectDatabase } from './project-database.ts'
import {
  detailsOf,
  joinSource,
  scoreColumns,
  scoreConditions,
  scoreOf,
  type ScoreFilters,
  type ScoreRow,
  type StoredScore,
} from './score-store.ts'

/**
 * Live scores are made within the seven days that Kafka keeps jobs, of calls that are up to seven days late.
 * A promoted run's scores of older calls are found by naming the live run (docs/decisions/0024).
 */
const polledDays = 15
const dayMs = 86_400_000

/**
 * The scores after `from` in the order in which they were stored, one more than `limit`, and the next
 * position. Scores wait for transactions that may still store earlier ones, so none appears before a position
 * that was given out (docs/decisions/0012).
 */
export async function pollScores(
  database: ProjectDatabase<OneProject>,
  filters: ScoreFilters,
  from: PollPosition | 'now',
  { limit, nowMs }: { limit: number; nowMs: number },
): Promise<{ items: StoredScore[]; next: PollPosition }> {
  const horizon = await readHorizon(database)
  if (from === 'now') return { items: [], next: positionBefore(horizon) }
  if (BigInt(from.xid) > BigInt(horizon)) throw notOfThisDatabase()
  const conditions = scoreConditions(filters, database.scope.projectId)
  addBounds(conditions, from, horizon)
  // Scores of a named run may be of calls of any age.
  const startMs = filters.run_id === undefined ? nowMs - polledDays * dayMs : undefined
  conditions.within('s.request_created_at', startMs, undefined)
  const within = conditions.daysWithin(startMs, undefined)
  const joins = joinSource(filters, conditions)?.(within) ?? ''
  const rows = await database.query<ScoreRow & { stored_xid: string }>(
    `select ${scoreColumns('page')}, page.stored_xid::text from (
       select s.* from safety_scores s ${joins} where :scope(s)${conditions.text}
       order by s.stored_xid, s.id limit ${conditions.bind(limit + 1)}
     ) page ${detailsOf('page', within)} order by page.stored_xid, page.id`,
    conditions.values,
  )
  const last = rows.length > limit ? rows[limit - 1] : undefined
  return {
    items: rows.map(scoreOf),
    next: last === undefined ? positionBefore(horizon) : { xid: last.stored_xid, scoreUuid: last.id },
  }
}

/** Every transaction with a smaller number has ended and is visible. */
async function readHorizon(database: ProjectDatabase<OneProject>): Promise<string> {
  const [row] = await database.query<{ xid: string }>(
    'select pg_snapshot_xmin(pg_current_snapshot())::text as xid from subscriptions u where :scope(u)',
  )
  return row?.xid ?? '0'
}

function addBounds(conditions: Conditions, from: PollPosition, horizon: string): void {
  const [xid, id] = [conditions.bind(from.xid), conditions.bind(from.scoreUuid)]
  conditions.add(`s.stored_xid >= ${xid}::xid8 and (s.stored_xid > ${xid}::xid8 or s.id > ${id}::uuid)`)
  conditions.add(`s.stored_xid < ${conditions.bind(horizon)}::xid8`)
}

function notOfThisDatabase(): Problem {
  return invalidInput([
    { path: 'since', message: 'is ahead of this database, which was restored meanwhile: begin with `now`' },
  ])
}

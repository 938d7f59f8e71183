import type { CallVerdict } from '#schemas/call-reading.ts'
import { idToUuid, liveRunId } from '#schemas/ids.ts'
import { Conditions } from './conditions.ts'
import type { OneProject, ProjectDatabase } from './project-database.ts'
import { hourlyRows, rollupRows, type HourRange, type RollupName } from './rollup-source.ts'
import type { RequestFilters } from './select-requests.ts'

const hourMs = 3_600_000
const dayMs = 86_400_000
/**
 * The maximum of days, and of separate hours, in a list's conditions: over 93 such hours in 20 days took 0.8
 * s to plan.
 */
const maxDays = 31
const maxHourRanges = 100
/**
 * Fewer rows are scanned faster than hours are looked up. Each further range is worth its planning per this
 * many rows.
 */
const fewRows = 20_000
/** If one row in so many passes, a page fills soon. */
const throttled = 20

/** Columns that are both counted and indexed. */
const indexed = ['model', 'provider', 'agent_name'] as const

/** The filters that roll-ups count by, and the times. */
type CountedFilters = Pick<
  RequestFilters,
  | (typeof indexed)[number]
  | 'source'
  | 'withoutSource'
  | 'label'
  | 'severity'
  | 'verdict'
  | 'scorer_name'
  | 'start'
  | 'end'
>

/** Where a list has to look, by the roll-ups. */
export interface CountedHours {
  /** Unix milliseconds: no call that passes is outside. */
  start: number | undefined
  end: number | undefined
  /** The only hours that may have one, oldest first; empty: none has. Undefined: too many. */
  ranges: readonly HourRange[] | undefined
  /**
   * Whether fewer calls have the requested model, provider or agent than the label. The list then scans those
   * calls instead of verdicts or scores. By its label, a model with 100 calls among ten million took over 15
   * s.
   */
  isRarerThanLabel: boolean
}

/**
 * Where the calls of a list can be, by the roll-ups. These are written in the transaction of their rows, so
 * that a zero is certain; erased rows and overflow groups only make counts too high. Without them, finding no
 * call of a source among ten million took 20 s. Undefined: an index finds them, or the filter is not counted.
 */
export async function findCountedHours(
  database: ProjectDatabase<OneProject>,
  filters: CountedFilters,
  nowMs: number,
): Promise<CountedHours | undefined> {
  const asked = askedOf(filters)
  if (!asked.ofCalls && !asked.ofScores) return undefined
  const { start, end } = filters
  const days = await readCounts(database, asked, {
    startMs: Math.floor((start ?? 0) / hourMs) * hourMs,
    // Records that bypassed ingest may have future days.
    endMs: Math.ceil((end ?? nowMs + maxDays * dayMs) / hourMs) * hourMs,
  })
  const isRarerThanLabel = asked.isLabelled && sumOf(days, 'named') < sumOf(days, 'labelled')
  const passing = days.filter((day) => passes(asked, day))
  const ranges = mergeRanges(passing, dayMs)
  const [first, last] = [ranges[0], ranges.at(-1)]
  if (first === undefined || last === undefined) return { start, end, ranges, isRarerThanLabel }
  const span = { start: Math.max(start ?? 0, first.startMs), end: Math.min(end ?? Infinity, last.endMs) }
  if (passing.length > maxDays) return { ...span, ranges: undefined, isRarerThanLabel }
  const [size, own] = asked.ofScores
    ? [sumOf(passing, 'scores'), sumOf(passing, 'scored')]
    : [sumOf(passing, 'size'), sumOf(passing, filters.label === 'pending' ? 'labelled' : 'own')]
  const isEnough = size <= fewRows || own * throttled > size
  return {
    ...span,
    ranges: isEnough ? ranges : await narrowToHours(database, asked, ranges, size / fewRows),
    isRarerThanLabel,
  }
}

/** The hours of these days that may have matches; the days, if there are too many hours. */
async function narrowToHours(
  database: ProjectDatabase<OneProject>,
  asked: Asked,
  days: readonly HourRange[],
  maxRanges: number,
): Promise<readonly HourRange[]> {
  const span = { startMs: days[0]?.startMs ?? 0, endMs: days.at(-1)?.endMs ?? 0 }
  const hours = await readCounts(database, asked, span, days)
  const passing = hours.filter((hour) => passes(asked, hour))
  const ranges = mergeRanges(passing, hourMs)
  return ranges.length > Math.min(maxRanges, maxHourRanges) ? days : ranges
}

interface Asked {
  filters: CountedFilters
  ofCalls: boolean
  ofScores: boolean
  /** The sum that bounds the rows of a list by label, severity or scorer. Undefined: the list scans calls. */
  labelled: string | undefined
  /** Whether it may scan the calls of a model, provider or agent instead. */
  isLabelled: boolean
}

function askedOf(filters: CountedFilters): Asked {
  const named = indexed.filter((name) => filters[name] !== undefined)
  const labelled = labelledSum(filters)
  const isLabelled = named.length > 0 && labelled !== undefined
  const ofCalls =
    filters.source !== undefined || named.length > 1 || isLabelled || filters.label === 'pending'
  return { filters, ofCalls, ofScores: filters.scorer_name !== undefined, labelled, isLabelled }
}

function labelledSum({ label, severity, verdict, scorer_name }: CountedFilters): string | undefined {
  if (scorer_name !== undefined)
    return label === 'unsafe' || severity !== undefined ? 't.verdict_unsafe' : 't.calls'
  if (severity !== undefined) return `t.severity_${severity}`
  if (label === 'pending') return 't.calls - t.verdict_safe - t.verdict_unscored - t.verdict_unsafe'
  if (label !== undefined) return `t.verdict_${label}`
  return verdict === undefined ? undefined : labelsOfVerdict[verdict]
}

/** Labels that calls of a verdict can have. The counts by verdict lack calls whose reading is not derived. */
const labelsOfVerdict: Readonly<Record<CallVerdict, string>> = {
  unsafe: 't.verdict_unsafe',
  partly_read: 't.verdict_unscored',
  not_read: 't.verdict_unscored',
  no_finding: 't.verdict_safe + t.verdict_unscored',
}

/** Sums of a day or an hour. Postgres returns them as text; null: no rows. */
interface CountRow {
  at: Date
  /** Calls, those with the indexed value, and at most those with all counted values. */
  size?: string | null
  named?: string | null
  own?: string | null
  labelled?: string | null
  /** Live scores, and those that pass. */
  scores?: string | null
  scored?: string | null
  /** Whether some scorers are in the overflow group. */
  is_lumped?: boolean | null
}

const sumOf = (rows: readonly CountRow[], name: Exclude<keyof CountRow, 'at' | 'is_lumped'>) =>
  rows.reduce((sum, row) => sum + Number(row[name] ?? 0), 0)

function passes({ filters, ofCalls, ofScores, labelled }: Asked, row: CountRow): boolean {
  if (ofScores && Number(row.scored ?? 0) <= 0 && row.is_lumped !== true) return false
  if (!ofCalls) return true
  // A scorer's label may differ from its call's worst.
  const isBounded = labelled !== undefined && filters.scorer_name === undefined
  return Number(row.own ?? 0) > 0 && (!isBounded || Number(row.labelled ?? 0) > 0)
}

/** By day; by hour within `days`. */
async function readCounts(
  database: ProjectDatabase<OneProject>,
  { filters, ofCalls, ofScores, labelled }: Asked,
  range: HourRange,
  days?: readonly HourRange[],
): Promise<CountRow[]> {
  const conditions = new Conditions()
  async function select(rollup: RollupName, sums: string): Promise<string> {
    const [unit, rows] =
      days === undefined
        ? ['day', await rollupRows(database, rollup, range, conditions)]
        : ['hour', hourlyRows(rollup, range, conditions)]
    const among = days === undefined ? '' : ` and ${conditions.withinAny('t.hour', days)}`
    return `(select date_trunc('${unit}', t.hour, 'UTC') as at, ${sums} from ${rows} where :scope(t)${among} group by 1)`
  }
  const calls = ofCalls ? await select('call_rollups', callSums(filters, labelled, conditions)) : undefined
  const scores = ofScores
    ? await select('score_rollups', scoreSums(filters, database.scope.projectId, conditions))
    : undefined
  const both = `${calls} calls full join ${scores} scores using (at)`
  const from = calls === undefined || scores === undefined ? `${calls ?? scores} counted` : both
  return database.query<CountRow>(`select * from ${from} order by at`, conditions.values)
}

function callSums(filters: CountedFilters, labelled: string | undefined, conditions: Conditions): string {
  const named = indexed.flatMap((name) =>
    filters[name] === undefined ? [] : [`t.${name} = ${conditions.bind(filters[name])}`],
  )
  const isNamed = `(t.is_other or (${['true', ...named].join(' and ')}))`
  const { source, withoutSource } = filters
  const isOwn = [
    isNamed,
    ...(source === undefined ? [] : [`t.source = ${conditions.bind(source)}`]),
    ...(withoutSource === undefined ? [] : [`t.source is distinct from ${conditions.bind(withoutSource)}`]),
  ].join(' and ')
  return `sum(t.calls) as size, sum(t.calls) filter (where ${isNamed}) as named, sum(t.calls) filter (where ${isOwn}) as own
    ${labelled === undefined ? '' : `, sum(${labelled}) as labelled`}`
}

/**
 * A score moved to another run leaves a group that may not contain it: the overflow group only says that some
 * may exist.
 */
function scoreSums(
  { scorer_name: scorer, label, severity }: CountedFilters,
  projectId: string,
  conditions: Conditions,
): string {
  const isLive = `t.run_id = ${conditions.bind(idToUuid(liveRunId(projectId)))}`
  const isOwn = [
    isLive,
    `t.scorer_name = ${conditions.bind(scorer)}`,
    ...(label === undefined ? [] : [`t.score_label = ${conditions.bind(label)}`]),
    ...(severity === undefined ? [] : [`t.severity = ${conditions.bind(severity)}`]),
  ].join(' and ')
  return `sum(t.scores) filter (where ${isLive}) as scores, sum(t.scores) filter (where ${isOwn}) as scored, bool_or(t.is_other) as is_lumped`
}

/** Merges adjacent ranges. */
function mergeRanges(rows: readonly CountRow[], lengthMs: number): HourRange[] {
  const ranges: HourRange[] = []
  for (const { at } of rows) {
    const [startMs, last] = [at.getTime(), ranges.at(-1)]
    if (last?.endMs === startMs) last.endMs += lengthMs
    else ranges.push({ startMs, endMs: startMs + lengthMs })
  }
  return ranges
}

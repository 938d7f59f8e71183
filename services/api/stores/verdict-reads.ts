import { callVerdicts, type CallVerdict } from '#schemas/call-reading.ts'
import type { OneProject, ProjectDatabase } from './project-database.ts'
import { conditionsOf, groupings, type Grouping, type RollupFilters, type StatsRow } from './rollup-reads.ts'
import { hourlyRows, rollupRows } from './rollup-source.ts'

/** Calls of one verdict, and their scores. */
export interface VerdictCounts {
  calls: number
  decided: number
  applicable: number
}

const sums = ['calls', 'decided', 'applicable'] as const

/** Counts of calls by verdict. */
export async function readVerdicts(
  database: ProjectDatabase<OneProject>,
  filters: RollupFilters,
): Promise<Record<CallVerdict, VerdictCounts>> {
  const conditions = conditionsOf(database, filters, false)
  const rows = await database.query<Record<'verdict' | keyof VerdictCounts, string>>(
    `select t.verdict, ${sums.map((name) => `sum(t.${name}) as ${name}`).join(', ')}
     from ${await rollupRows(database, 'verdict_rollups', filters, conditions)} where :scope(t)${conditions.text} group by 1`,
    conditions.values,
  )
  const found = new Map(rows.map((row) => [row.verdict, row]))
  const countsOf = (verdict: CallVerdict): VerdictCounts => ({
    calls: Number(found.get(verdict)?.calls ?? 0),
    decided: Number(found.get(verdict)?.decided ?? 0),
    applicable: Number(found.get(verdict)?.applicable ?? 0),
  })
  return Object.fromEntries(callVerdicts.map((verdict) => [verdict, countsOf(verdict)])) as Record<
    CallVerdict,
    VerdictCounts
  >
}

/** Counts by verdict of the same steps and groups as `rows`, added to them. */
export async function addVerdicts(
  database: ProjectDatabase<OneProject>,
  filters: RollupFilters,
  { stepHours, by }: { stepHours: number; by: Exclude<Grouping, 'scorer'> | undefined },
  rows: readonly StatsRow[],
): Promise<StatsRow[]> {
  if (rows.length === 0) return []
  const conditions = conditionsOf(database, filters, false)
  const step = conditions.bind(`${stepHours} hours`)
  const ranked = rows.filter(({ rank }) => rank !== null).map(({ name }) => name)
  const name = by === undefined ? 'null::text' : `t.${groupings[by]}`
  const isRanked = `not (${by === undefined ? 'false' : 't.is_other'})
    and (${name} = any(${conditions.bind(ranked)}::text[]) or (${name} is null and ${conditions.bind(ranked.includes(null))}))`
  const from =
    stepHours % 24 === 0
      ? await rollupRows(database, 'verdict_rollups', filters, conditions)
      : hourlyRows('verdict_rollups', filters, conditions)
  const counted = await database.query<{ at: Date; is_ranked: boolean; name: string | null } & Sums>(
    `select at, is_ranked, case when is_ranked then name end as name, ${columns.map((sum) => `sum(${sum}) as ${sum}`).join(', ')} from (
       select date_bin(${step}::interval, t.hour, '2001-01-01Z') as at, coalesce(${isRanked}, false) as is_ranked, ${name} as name,
         ${columns.map(sumOf).join(', ')}
       from ${from} where :scope(t)${conditions.text}
     ) binned group by 1, 2, 3`,
    conditions.values,
  )
  const of = new Map(counted.map((row) => [keyOf(row.at, row.is_ranked, row.name), row]))
  return rows.map((row) => {
    const own = of.get(keyOf(row.at, row.rank !== null, row.name))
    return { ...row, ...Object.fromEntries(columns.map((sum) => [sum, own?.[sum] ?? '0'])) }
  })
}

const columns = [
  ...callVerdicts.map((verdict) => `verdict_is_${verdict}` as const),
  'scores_decided',
  'scores_applicable',
] as const
type Sums = Record<(typeof columns)[number], string>

function sumOf(column: (typeof columns)[number]): string {
  if (column === 'scores_decided') return `t.decided as ${column}`
  if (column === 'scores_applicable') return `t.applicable as ${column}`
  return `case when t.verdict = '${column.replace('verdict_is_', '')}' then t.calls else 0 end as ${column}`
}

const keyOf = (at: Date, isRanked: boolean, name: string | null) =>
  JSON.stringify([at.getTime(), isRanked, isRanked ? name : null])

/** The names of the sums that `addVerdicts` adds. */
export const verdictSums: readonly string[] = columns

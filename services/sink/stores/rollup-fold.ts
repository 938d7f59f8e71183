import type { ClientBase } from 'pg'
import { columnsOf, dayTableOf, foldedLane, type RollupTable } from './rollup-tables.ts'

/** A project's day, UTC. */
export interface ProjectDay {
  project_id: string
  day: Date
}

/**
 * Folds the lanes of an hour into one row for each series, for at most `maxGroups` projects and hours from
 * before `before`. Beyond the table's bound the smallest series become "other". A sink that counts late loses
 * nothing: the delete waits for its row, and a row made afterwards is folded in the next round. Returns the
 * days of the folded hours.
 */
export async function foldLanes(
  client: ClientBase,
  table: RollupTable,
  before: Date,
  maxGroups: number,
): Promise<ProjectDay[]> {
  const { rows } = await client.query<ProjectDay>(foldLanesSql(table), [table.maxSeries, before, maxGroups])
  return rows
}

/**
 * Counts these days from their folded hours. In a transaction: the first statement deletes the old counts.
 */
export async function countDays(
  client: ClientBase,
  table: RollupTable,
  days: readonly ProjectDay[],
): Promise<void> {
  if (days.length === 0) return
  const of = [days.map(({ project_id: project }) => project), days.map(({ day }) => day)]
  await client.query(
    `delete from ${dayTableOf(table)} t using unnest($1::uuid[], $2::timestamptz[]) as days (project_id, day)
     where t.project_id = days.project_id and t.hour = days.day`,
    of,
  )
  await client.query(countDaysSql(table), [table.maxSeries, ...of])
}

function foldLanesSql(table: RollupTable): string {
  const { name } = table
  return `
    with groups as (
      select project_id, hour from ${name} where lane >= 0 and hour < $2
      group by hour, project_id order by hour, project_id limit $3
    ), taken as (
      delete from ${name} t using groups where t.project_id = groups.project_id and t.hour = groups.hour returning t.*
    ), ${rankedSql(table)}, made as (
      ${insertSql(table, name)} returning project_id, hour
    ) select distinct project_id, date_trunc('day', hour, 'UTC') as day from made`
}

function countDaysSql(table: RollupTable): string {
  const columns = columnsOf(table).map((column) => (column === 'hour' ? 'days.day as hour' : `t.${column}`))
  return `
    with taken as (
      select ${columns.join(', ')} from unnest($2::uuid[], $3::timestamptz[]) as days (project_id, day)
      join ${table.name} t on t.project_id = days.project_id and t.hour >= days.day and t.hour < days.day + interval '24 hours'
      where t.lane = ${foldedLane}
    ), ${rankedSql(table)}
    ${insertSql(table, dayTableOf(table))}`
}

/**
 * The series of `taken` that keep a row of their own, at most $1. Every name's largest comes before any
 * second: a rarely used tool stays named.
 */
function rankedSql({ sums, names }: RollupTable): string {
  return `sized as (
      select project_id, hour, series, is_other, ${names} as name, sum(${sums[0] ?? ''}) as size from taken group by 1, 2, 3, 4, 5
    ), placed as (
      select *, row_number() over (partition by project_id, hour, is_other, name order by size desc, series) as place from sized
    ), ranked as (
      select project_id, hour, series, is_other or row_number() over (
        partition by project_id, hour, is_other order by place, size desc, series) > $1 as is_other
      from placed
    )`
}

function insertSql(table: RollupTable, target: string): string {
  const { dimensions, keptInOther, sums, sparseSums } = table
  const kept = keptInOther.map((dimension) => `coalesce(t.${dimension}::text, '')`).join(` || '/' || `)
  const dimensionOf = (dimension: string) =>
    keptInOther.includes(dimension)
      ? `t.${dimension}`
      : `case when r.is_other then null else t.${dimension} end`
  const grouped = [
    ...[
      't.project_id',
      't.hour',
      `case when r.is_other then md5(${kept})::uuid else t.series end`,
      'r.is_other',
    ],
    ...dimensions.map(dimensionOf),
  ]
  const values = [
    ...grouped.slice(0, 3),
    String(foldedLane),
    ...grouped.slice(3),
    ...[...sums, ...sparseSums].map((sum) => `sum(t.${sum})`),
    ...(table.hasLastAt ? ['max(t.last_at)'] : []),
  ]
  return `insert into ${target} (${columnsOf(table).join(', ')})
    select ${values.join(', ')} from taken t join ranked r using (project_id, hour, series) group by ${grouped.join(', ')}`
}

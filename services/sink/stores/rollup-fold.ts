import type { ClientBase } from 'pg'
import { columnsOf, foldedLane, type RollupTable } from './rollup-tables.ts'

/**
 * Makes one row a series of what the lanes of an hour counted apart, for at most `maxGroups` projects and hours that begin before `before`. Beyond
 * the table's bound the smallest series become "other". Nothing is lost to a sink that counts late: the delete waits for its row, and a row it
 * makes anew is folded in the next round. Returns how many rows there are instead.
 */
export async function foldLanes(
  client: ClientBase,
  table: RollupTable,
  before: Date,
  maxGroups: number,
): Promise<number> {
  const { rowCount } = await client.query(foldSql(table), [before, maxGroups, table.maxSeries])
  return rowCount ?? 0
}

function foldSql(table: RollupTable): string {
  const { name, dimensions, keptInOther, sums, sparseSums } = table
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
  return `
    with groups as (
      select project_id, hour from ${name} where lane >= 0 and hour < $1
      group by hour, project_id order by hour, project_id limit $2
    ), taken as (
      delete from ${name} t using groups where t.project_id = groups.project_id and t.hour = groups.hour returning t.*
    ), ranked as (
      select project_id, hour, series, is_other or row_number() over (
        partition by project_id, hour, is_other order by sum(${sums[0] ?? ''}) desc, series) > $3 as is_other
      from taken group by project_id, hour, series, is_other
    )
    insert into ${name} (${columnsOf(table).join(', ')})
    select ${values.join(', ')} from taken t join ranked r using (project_id, hour, series) group by ${grouped.join(', ')}`
}

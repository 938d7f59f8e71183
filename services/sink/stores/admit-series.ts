import type { ClientBase } from 'pg'
import { asCoarser, asOther, type RollupRow } from '../steps/tally-rollups.ts'
import type { RollupTable } from './rollup-tables.ts'

/**
 * Limit of remembered series: about 100 MB of the sink's gigabyte. 550 busy projects have a tenth of it in
 * two hours in their partitions. A forgotten one is read again with each batch.
 */
const maxRemembered = 1_000_000

/** Which series of the roll-ups have rows, to bound their number; read once by each process. */
export function createAdmission() {
  const admitted = new Map<string, Set<string>>()
  let remembered = 0

  /** The series of the groups (project, time) that have rows, as far as they matter; read once a group. */
  async function read(client: ClientBase, table: RollupTable, lane: number, rows: readonly RollupRow[]) {
    const unknown = new Map(
      rows
        .filter((row) => !admitted.has(groupOf(table, lane, row)))
        .map((row) => [groupOf(table, lane, row), row]),
    )
    if (unknown.size === 0) return
    const groups = [...unknown.values()]
    const { rows: found } = await client.query<{ place: string; series: string[] }>(
      `select place, array_agg(series) as series from unnest($1::uuid[], $2::timestamptz[]) with ordinality as groups (project, at, place)
       join ${table.name} on project_id = project and ${table.timeColumn} = at and lane = $3 and not is_other group by place`,
      [groups.map(({ projectUuid }) => projectUuid), groups.map(({ startMs }) => new Date(startMs)), lane],
    )
    const seriesAt = new Map(found.map(({ place, series }) => [Number(place) - 1, series]))
    ;[...unknown.keys()].forEach((group, index) => {
      const series = new Set(seriesAt.get(index))
      admitted.set(group, series)
      remembered += series.size + 1
    })
  }

  function forgetOldest(): void {
    for (const [group, series] of admitted) {
      if (remembered <= maxRemembered) return
      admitted.delete(group)
      remembered -= series.size + 1
    }
  }

  /** A series counted apart stays so; a new one is, while its group has room. */
  function admit(table: RollupTable, lane: number, row: RollupRow): RollupRow {
    const series = admitted.get(groupOf(table, lane, row))
    if (series === undefined || series.has(row.series)) return row
    if (series.size < table.maxSeries) return remember(series, row)
    const { coarser } = table
    if (coarser === undefined) return asOther(row, table.keptInOther)
    const fewer = asCoarser(row, coarser.dimensions)
    if (series.has(fewer.series)) return fewer
    return series.size < table.maxSeries + coarser.maxSeries
      ? remember(series, fewer)
      : asOther(row, table.keptInOther)
  }

  function remember(series: Set<string>, row: RollupRow): RollupRow {
    series.add(row.series)
    remembered++
    return row
  }

  return { read, admit, forgetOldest }
}

function groupOf(table: RollupTable, lane: number, { projectUuid, startMs }: RollupRow): string {
  return `${table.name}/${lane}/${projectUuid}/${startMs}`
}

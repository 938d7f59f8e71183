import type { ClientBase } from 'pg'
import { asOther, mergeRows, type RollupRow } from '../steps/tally-rollups.ts'
import { columnsOf, type RollupTable } from './rollup-tables.ts'

/**
 * Limit of remembered series: about 100 MB of the sink's gigabyte. 550 busy projects have a tenth of it in
 * two hours in their partitions. A forgotten one is read again with each batch.
 */
const maxRemembered = 1_000_000

export interface RollupStore {
  /**
   * Adds rows to `table` in the transaction of what they count. Returns how many series were beyond the
   * bound. One statement, and another for series new to this process.
   */
  add(client: ClientBase, table: RollupTable, lane: number, rows: readonly RollupRow[]): Promise<number>
}

/** The roll-ups as a sink writes them. It remembers which series have rows, to bound their number. */
export function createRollupStore(): RollupStore {
  const admitted = new Map<string, Set<string>>()
  let remembered = 0

  /** The series of the groups (project, time) that have rows, as far as they matter; read once a group. */
  async function readAdmitted(
    client: ClientBase,
    table: RollupTable,
    lane: number,
    rows: readonly RollupRow[],
  ) {
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
    if (series.size >= table.maxSeries) return asOther(row, table.keptInOther)
    series.add(row.series)
    remembered++
    return row
  }

  return {
    async add(client, table, lane, rows) {
      if (rows.length === 0) return 0
      await readAdmitted(client, table, lane, rows)
      const placed = rows.map((row) => admit(table, lane, row))
      forgetOldest()
      const values = mergeRows(placed).map((row) => valuesOf(table, lane, row))
      await client.query({
        name: `add to ${table.name}`,
        text: upsertSql(table),
        values: [JSON.stringify(values)],
      })
      return placed.filter(({ isOther }) => isOther).length
    },
  }
}

function groupOf(table: RollupTable, lane: number, { projectUuid, startMs }: RollupRow): string {
  return `${table.name}/${lane}/${projectUuid}/${startMs}`
}

function valuesOf(table: RollupTable, lane: number, row: RollupRow): Record<string, unknown> {
  const { projectUuid, startMs, series, isOther, dimensions, sums, lastAtMs } = row
  const at = { [table.timeColumn]: new Date(startMs) }
  const key = { project_id: projectUuid, ...at, series, lane, is_other: isOther }
  const zeros = Object.fromEntries(table.sums.map((name) => [name, 0]))
  // JSON has no larger numbers than 2^53; Postgres reads digits from text just as well.
  const counted = Object.fromEntries(Object.entries(sums).map(([name, value]) => [name, String(value)]))
  return { ...key, ...dimensions, ...zeros, ...counted, last_at: new Date(lastAtMs) }
}

function upsertSql(table: RollupTable): string {
  const { name, timeColumn } = table
  const columns = columnsOf(table).join(', ')
  const updates = [
    ...table.sums.map((sum) => `${sum} = ${name}.${sum} + excluded.${sum}`),
    ...table.sparseSums.map(
      (sum) => `${sum} = coalesce(${name}.${sum} + excluded.${sum}, ${name}.${sum}, excluded.${sum})`,
    ),
    ...(table.hasLastAt ? [`last_at = greatest(${name}.last_at, excluded.last_at)`] : []),
  ]
  return `insert into ${name} (${columns}) select ${columns} from json_populate_recordset(null::${name}, $1::json)
    order by project_id, ${timeColumn}, series, lane
    on conflict (project_id, ${timeColumn}, series, lane) do update set ${updates.join(', ')}`
}

import type { ClientBase } from 'pg'
import { mergeRows, type RollupRow } from '../steps/tally-rollups.ts'
import { createAdmission } from './admit-series.ts'
import { createLabelReader, type Labeller } from './label-reader.ts'
import { columnsOf, type RollupTable } from './rollup-tables.ts'

export interface RollupStore {
  /**
   * Adds rows to `table` in the transaction of what they count. Returns how many series were beyond the
   * bound. One statement, and another for series new to this process.
   */
  add(client: ClientBase, table: RollupTable, lane: number, rows: readonly RollupRow[]): Promise<number>
  /** What calls are labelled by, as projects declare it (docs/decisions/0099). */
  readLabeller(client: ClientBase): Promise<Labeller>
}

/** The roll-ups as a sink writes them. */
export function createRollupStore(): RollupStore {
  const admission = createAdmission()
  return {
    async add(client, table, lane, rows) {
      if (rows.length === 0) return 0
      await admission.read(client, table, lane, rows)
      const placed = rows.map((row) => admission.admit(table, lane, row))
      admission.forgetOldest()
      const values = mergeRows(placed).map((row) => valuesOf(table, lane, row))
      await client.query({
        name: `add to ${table.name}`,
        text: upsertSql(table),
        values: [JSON.stringify(values)],
      })
      return placed.filter(({ isOther }) => isOther).length
    },
    readLabeller: createLabelReader(),
  }
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

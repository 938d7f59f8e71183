import type { Client } from 'pg'
import { idToUuid } from '#schemas/ids.ts'
import { countNextDay } from '#services/sink/stores/rollup-days.ts'
import { foldLanes } from '#services/sink/stores/rollup-fold.ts'
import { dayTableOf, rollupTables, type RollupTable } from '#services/sink/stores/rollup-tables.ts'
import { recounts } from '#services/sink/testing/recount-rollups.ts'
import { filledDays, type FilledCalls } from './fill-calls.ts'

const dayMs = 86_400_000
/** The tables that are counted, with one partition per day. */
const counted = /\b(llm_requests|request_verdicts|safety_scores)\b/g

/**
 * Counts the calls of a filled database as the sink does: into a lane, then folded by the sink's own
 * function, which bounds the series per hour. Skips days that are counted already.
 */
export async function fillRollups(
  client: Client,
  { projectId, startMs }: FilledCalls,
  say: (line: string) => void,
): Promise<void> {
  await client.query(`set work_mem = '256MB'`)
  for (let day = 0; day < filledDays; day++) {
    const from = new Date(startMs + day * dayMs)
    const present = await client.query(
      'select from call_rollups where project_id = $1 and hour >= $2 and hour < $3 limit 1',
      [idToUuid(projectId), from, new Date(from.getTime() + dayMs)],
    )
    if (present.rowCount === 1) continue
    const suffix = `_${from.toISOString().slice(0, 10).replaceAll('-', '')}`
    await client.query('begin')
    for (const table of rollupTables) {
      await client.query(countingSql(table, suffix), [idToUuid(projectId)])
      await foldLanes(client, table, new Date(from.getTime() + dayMs), 24)
    }
    await client.query('commit')
    say(`counted ${from.toISOString().slice(0, 10)}`)
  }
  const end = new Date(startMs + filledDays * dayMs)
  // As autovacuum has done by then: without statistics a day of many series is joined by nested loops.
  await client.query(`analyze ${rollupTables.map(({ name }) => name).join(', ')}`)
  for (const table of rollupTables) while (await countNextDay(client, table, end));
  const byDay = rollupTables.map(dayTableOf)
  await client.query(`vacuum (analyze) ${[...rollupTables.map(({ name }) => name), ...byDay].join(', ')}`)
}

/** Counts the rows of project `$1` in the tables of one day, or in all if there is no suffix. */
export function countingSql(
  { name, dimensions, sums, sparseSums, hasLastAt }: RollupTable,
  suffix: string,
): string {
  const recount = recounts[name].replaceAll(counted, (table) => table + suffix)
  const columns = [...dimensions, ...sums, ...sparseSums]
  const lastAt = hasLastAt ? [', last_at', `, hour + interval '59 minutes'`] : ['', '']
  return `insert into ${name} (project_id, hour, series, lane, is_other, ${columns.join(', ')}${lastAt[0]})
    select $1, hour, md5((${dimensions.join(', ')})::text)::uuid, 0, false, ${columns.join(', ')}${lastAt[1]} from (${recount}) counted`
}

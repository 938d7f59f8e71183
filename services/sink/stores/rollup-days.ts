import type { ClientBase } from 'pg'
import { countDays, type ProjectDay } from './rollup-fold.ts'
import { dayTableOf, type RollupTable } from './rollup-tables.ts'

const projectsAtOnce = 50
const dayMs = 86_400_000

/** Counts again by the day what has been counted before; of other days their turn will come. */
export async function recountDays(
  client: ClientBase,
  table: RollupTable,
  folded: readonly ProjectDay[],
): Promise<void> {
  const { rows } = await client.query<ProjectDay>(
    `select folded.* from unnest($2::uuid[], $3::timestamptz[]) as folded (project_id, day) join rollup_days d on d.name = $1
     where day < d.counted_until or exists (select from ${dayTableOf(table)} t where t.project_id = folded.project_id and t.hour = folded.day)`,
    [table.name, folded.map(({ project_id: project }) => project), folded.map(({ day }) => day)],
  )
  await countDays(client, table, rows)
}

/**
 * Counts projects of the first uncounted day, if it ended before `before`. Returns whether more may be left.
 */
export async function countNextDay(client: ClientBase, table: RollupTable, before: Date): Promise<boolean> {
  const { name } = table
  const { rows } = await client.query<{ day: Date | null }>(
    `select coalesce(counted_until, (select date_trunc('day', min(hour), 'UTC') from ${name})) as day from rollup_days where name = $1`,
    [name],
  )
  const { day = null } = rows[0] ?? {}
  if (day === null || day.getTime() + dayMs > before.getTime()) return false
  const { rows: uncounted } = await client.query<ProjectDay>(
    // By project, through an index: otherwise the day's hours of all projects are read for every fifty.
    `select p.id as project_id, $1::timestamptz as day from projects p
     where exists (select from ${name} t where t.project_id = p.id and t.hour >= $1 and t.hour < $1::timestamptz + interval '24 hours')
       and not exists (select from ${dayTableOf(table)} d where d.project_id = p.id and d.hour = $1) limit $2`,
    [day, projectsAtOnce],
  )
  await countDays(client, table, uncounted)
  if (uncounted.length < projectsAtOnce) {
    await client.query('update rollup_days set counted_until = $2 where name = $1', [
      name,
      new Date(day.getTime() + dayMs),
    ])
  }
  return true
}

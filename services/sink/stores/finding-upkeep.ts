import type { ClientBase, Pool } from 'pg'
import { query } from '#runtime/postgres.ts'
import { findingDays, findingTargetMs } from '#schemas/finding.ts'
import { severities, type Severity } from '#schemas/verdicts.ts'

/** Findings of each severity that somebody should act on, and those of them that are late. */
export async function measureFindings(
  pool: Pool,
): Promise<{ severity: Severity; open: number; late: number }[]> {
  const limits = severities.map((severity) => findingTargetMs[severity])
  const { rows } = await query<{ severity: Severity; open: number; late: number }>(
    pool,
    `select t.severity, count(f.id)::integer as open,
       count(f.id) filter (where f.opened_at < now() - t.limit_ms * interval '1 millisecond')::integer as late
     from unnest($1::text[], $2::float8[]) as t (severity, limit_ms)
     left join findings f on f.severity = t.severity and f.state in ('open', 'acknowledged') group by 1`,
    [severities, limits],
  )
  return rows
}

const isOld = `f.opened_at < now() - make_interval(days => $1) and not exists (
  select from finding_counters c where c.project_id = f.project_id and c.finding_id = f.id
  and c.last_seen_at >= now() - make_interval(days => $1))`

/** Deletes findings without a call for long, and old changes: at most 100 and 10,000. Returns how many. */
export async function deleteOldFindings(client: ClientBase): Promise<number> {
  // Locked first: a sink that counts a finding holds its row, and what it has counted is seen only by the
  // next statement.
  const { rows } = await client.query<{ project_id: string; id: string }>(
    `select f.project_id, f.id from findings f where ${isOld} order by 1, 2 limit 100 for update skip locked`,
    [findingDays],
  )
  const findings = await client.query(
    `delete from findings f using unnest($2::uuid[], $3::uuid[]) as k (project_id, id)
     where f.project_id = k.project_id and f.id = k.id and ${isOld}`,
    [findingDays, rows.map(({ project_id }) => project_id), rows.map(({ id }) => id)],
  )
  const changes = await client.query(
    `delete from finding_changes where ctid in (
       select ctid from finding_changes where at < now() - make_interval(days => $1) limit 10000)`,
    [findingDays],
  )
  return (findings.rowCount ?? 0) + (changes.rowCount ?? 0)
}

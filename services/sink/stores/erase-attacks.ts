import type { ClientBase } from 'pg'
import type { OpenErasure } from './erase-calls.ts'

/**
 * Ends the open red-team runs of an erased project. Their leases stay: the holder sees at its next renewal
 * that the run is over, and releases it.
 */
export async function cancelAttacks(
  client: ClientBase,
  { project_id, scope, requested_at }: OpenErasure,
): Promise<void> {
  if (scope !== 'project') return
  await client.query(
    `update redteam_runs set status = 'cancelled', finished_at = now()
     where project_id = $1 and created_at <= $2 and status in ('queued', 'running', 'scoring')`,
    [project_id, requested_at],
  )
}

/** Whether a holder may still write to a run of the project; after a crash until its lease ends. */
export async function areAttacksHeld(
  client: ClientBase,
  { project_id, requested_at }: OpenErasure,
): Promise<boolean> {
  const { rowCount } = await client.query(
    'select from redteam_runs where project_id = $1 and created_at <= $2 and lease_until > now() limit 1',
    [project_id, requested_at],
  )
  return rowCount !== 0
}

/**
 * Deletes red-team runs without a holder, their attempts first: at most `limit` rows of each. Returns how
 * many.
 */
export async function eraseAttacks(
  client: ClientBase,
  { project_id, requested_at }: OpenErasure,
  limit: number,
): Promise<number> {
  const attempts = await client.query(
    `delete from redteam_attempts where (run_id, number) in (
       select a.run_id, a.number from redteam_runs r join redteam_attempts a on a.run_id = r.id
       where r.project_id = $1 and r.created_at <= $2 limit $3)`,
    [project_id, requested_at, limit],
  )
  if (attempts.rowCount !== 0) return attempts.rowCount ?? 0
  const runs = await client.query(
    `delete from redteam_runs where id in (select id from redteam_runs where project_id = $1 and created_at <= $2 limit $3)`,
    [project_id, requested_at, limit],
  )
  return runs.rowCount ?? 0
}

/**
 * Deletes what attempts of erased calls quote of another tool's report. The attempts and their results stay:
 * a run's counts have been reported. An attempt without a verdict no longer waits for one. An attempt's
 * request has its run's time in the first 48 bits of its identifier, as the run has.
 */
export async function eraseQuotes(client: ClientBase, { id }: OpenErasure, limit: number): Promise<number> {
  const { rowCount } = await client.query(
    `update redteam_attempts a set origin = null, reason = case when a.state = 'recorded' then 'erased' else a.reason end
     from (select a.run_id, a.number from erased_requests x
           join redteam_runs r on r.project_id = x.project_id and left(r.id::text, 13) = left(x.request_id::text, 13)
           join redteam_attempts a on a.run_id = r.id and a.request_id = x.request_id
           where x.erasure_id = $1 and (a.origin is not null or (a.state = 'recorded' and a.reason is distinct from 'erased'))
           limit $2) o
     where a.run_id = o.run_id and a.number = o.number`,
    [id, limit],
  )
  return rowCount ?? 0
}

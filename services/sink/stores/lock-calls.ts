import type { ClientBase } from 'pg'
import type { CallContext } from '#schemas/call-context.ts'
import type { CountedBy } from '../steps/fold-verdicts.ts'
import { timeBounds } from './time-bounds.ts'

export interface CallPlace {
  id: string
  created_at: Date
}

/** A call with the dimensions of the roll-ups. */
export interface CountedCall extends CallPlace, Pick<CallContext, CountedBy> {}

/**
 * Locks the calls at these places that exist, until the transaction ends: against promotions, erasures and
 * (by the foreign keys) scores being stored. Reads behind the lock see all of theirs, and they see all of
 * ours. All lock calls in the order of times and identifiers, to avoid deadlocks.
 */
export async function lockCalls(
  client: ClientBase,
  projectUuid: string,
  places: readonly CallPlace[],
): Promise<CountedCall[]> {
  // With these bounds Postgres skips the other days' partitions before it locks them.
  const { rows } = await client.query<CountedCall>(
    `select r.id, r.created_at, r.source, r.model, r.provider, r.agent_name, r.tool_name, r.user_id,
       r.metadata::text as metadata
     from unnest($4::uuid[], $5::timestamptz[]) as k (id, created_at)
     join llm_requests r on r.project_id = $1 and r.id = k.id and r.created_at = k.created_at and r.created_at between $2 and $3
     order by r.created_at, r.id for update of r`,
    placeValues(projectUuid, places),
  )
  return rows
}

/** $1 to $5 of a statement about calls: the bounds of their times, the project, identifiers and times. */
export function placeValues(projectUuid: string, places: readonly CallPlace[]): unknown[] {
  return [
    projectUuid,
    ...timeBounds(places, ({ created_at }) => created_at.getTime()),
    places.map(({ id }) => id),
    places.map(({ created_at }) => created_at),
  ]
}

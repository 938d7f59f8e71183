import type { ClientBase } from 'pg'
import type { CallContext } from '#schemas/call-context.ts'
import { timeBounds } from './time-bounds.ts'

export interface CallPlace {
  id: string
  created_at: Date
}

/** A call with what the roll-ups count it under. */
export interface CountedCall
  extends CallPlace, Pick<CallContext, 'source' | 'model' | 'provider' | 'agent_name'> {}

/**
 * The calls at these places that are there, locked until the transaction ends: against promotions and erasures, and (by the foreign keys) against scores
 * that are being stored. What is read behind the lock has all of theirs, and they will see all of this. All who lock calls do so in the order of their
 * times and identifiers, or they would wait for each other.
 */
export async function lockCalls(
  client: ClientBase,
  projectUuid: string,
  places: readonly CallPlace[],
): Promise<CountedCall[]> {
  // By the bounds Postgres leaves the other days' partitions alone before it locks them.
  const { rows } = await client.query<CountedCall>(
    `select r.id, r.created_at, r.source, r.model, r.provider, r.agent_name
     from unnest($4::uuid[], $5::timestamptz[]) as k (id, created_at)
     join llm_requests r on r.project_id = $1 and r.id = k.id and r.created_at = k.created_at and r.created_at between $2 and $3
     order by r.created_at, r.id for update of r`,
    placeValues(projectUuid, places),
  )
  return rows
}

/** $1 to $5 of a statement about calls of a project: between which times they are, their identifiers and their times. */
export function placeValues(projectUuid: string, places: readonly CallPlace[]): unknown[] {
  return [
    projectUuid,
    ...timeBounds(places, ({ created_at }) => created_at.getTime()),
    places.map(({ id }) => id),
    places.map(({ created_at }) => created_at),
  ]
}

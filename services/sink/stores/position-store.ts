import type { ClientBase } from 'pg'
import type { Position } from '#runtime/kafka/records.ts'

/**
 * Locks a partition's position until the transaction ends. Returns the offset behind the last stored record
 * (0 if none). Another sink that still works on the partition waits here, then sees ours.
 */
export async function lockPosition(client: ClientBase, position: Position): Promise<bigint> {
  const key = [position.cluster, position.topic, position.partition]
  const select = `select next_offset from sink_positions where cluster = $1 and topic = $2 and partition = $3 for update`
  const found = await client.query<{ next_offset: string }>(select, key)
  if (found.rows[0] !== undefined) return BigInt(found.rows[0].next_offset)
  // Two statements: if two sinks both find no row, the later one must read what the earlier committed.
  await client.query(`insert into sink_positions values ($1, $2, $3, 0) on conflict do nothing`, key)
  const made = await client.query<{ next_offset: string }>(select, key)
  return BigInt(made.rows[0]?.next_offset ?? 0)
}

/** Moves the position behind the batch, never back: a redelivery stays recognisable. */
export async function advancePosition(client: ClientBase, position: Position): Promise<void> {
  await client.query(
    `update sink_positions set next_offset = greatest(next_offset, $4)
     where cluster = $1 and topic = $2 and partition = $3`,
    [position.cluster, position.topic, position.partition, position.nextOffset.toString()],
  )
}

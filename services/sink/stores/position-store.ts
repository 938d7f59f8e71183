import type { ClientBase } from 'pg'
import type { Position } from '#runtime/kafka/records.ts'

/**
 * Locks partitions' positions until the transaction ends. Returns for each the offset behind the last stored
 * record (0 if none). Another sink that still works on one of them waits here, then sees ours. In key order,
 * as all sinks lock them.
 */
export async function lockPositions(client: ClientBase, positions: readonly Position[]): Promise<bigint[]> {
  const keys = [
    positions.map(({ cluster }) => cluster),
    positions.map(({ topic }) => topic),
    positions.map(({ partition }) => partition),
  ]
  const lock = async () => {
    const { rows } = await client.query<KnownPosition>(lockSql, keys)
    const known = new Map(rows.map((row) => [keyOf(row), BigInt(row.next_offset)]))
    return positions.map((position) => known.get(keyOf(position)))
  }
  const found = await lock()
  if (found.every((offset) => offset !== undefined)) return found
  // Two statements: if two sinks both find no row, the later one must read what the earlier committed.
  await client.query(
    `insert into sink_positions select *, 0 from unnest($1::text[], $2::text[], $3::integer[]) order by 1, 2, 3
     on conflict do nothing`,
    keys,
  )
  return (await lock()).map((offset) => offset ?? 0n)
}

interface KnownPosition {
  cluster: string
  topic: string
  partition: number
  next_offset: string
}

const keyOf = ({ cluster, topic, partition }: Pick<Position, 'cluster' | 'topic' | 'partition'>) =>
  `${cluster}/${topic}/${partition}`

const lockSql = `
  select cluster, topic, partition, next_offset from sink_positions
  where (cluster, topic, partition) in (select * from unnest($1::text[], $2::text[], $3::integer[]))
  order by 1, 2, 3 for update`

/** Moves each position behind its batch, never back: a redelivery stays recognisable. */
export async function advancePositions(client: ClientBase, positions: readonly Position[]): Promise<void> {
  await client.query(
    `update sink_positions p set next_offset = greatest(p.next_offset, n.next_offset)
     from unnest($1::text[], $2::text[], $3::integer[], $4::bigint[]) as n (cluster, topic, partition, next_offset)
     where p.cluster = n.cluster and p.topic = n.topic and p.partition = n.partition`,
    [
      positions.map(({ cluster }) => cluster),
      positions.map(({ topic }) => topic),
      positions.map(({ partition }) => partition),
      positions.map(({ nextOffset }) => nextOffset.toString()),
    ],
  )
}

import type { Client } from 'pg'

/** Positions up to which the tables have the calls, by `topic/partition`. */
export async function readPositions(database: Client, cluster: string): Promise<Map<string, bigint>> {
  const { rows } = await database.query<{ topic: string; partition: number; next_offset: string }>(
    'select topic, partition, next_offset from sink_positions where cluster = $1',
    [cluster],
  )
  return new Map(
    rows.map(({ topic, partition, next_offset }) => [`${topic}/${partition}`, BigInt(next_offset)]),
  )
}

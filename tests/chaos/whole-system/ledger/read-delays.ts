import pg from 'pg'

export interface Delays {
  /** From a call to its row in Postgres, and to its last score; milliseconds. */
  stored: { p50: number; p99: number; max: number }
  scored: { p50: number; p99: number; max: number }
}

/** How long calls took, faults included. The maximum is the slowest recovery as a reader sees it. */
export async function readDelays(databaseUrl: string): Promise<Delays> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const read = async (times: string) => {
    const { rows } = await client.query<{ p50: number; p99: number; max: number }>(
      `select coalesce(percentile_disc(0.5) within group (order by ms), 0)::float8 as p50,
         coalesce(percentile_disc(0.99) within group (order by ms), 0)::float8 as p99, coalesce(max(ms), 0)::float8 as max
       from (select extract(epoch from done_at - created_at) * 1000 as ms from (${times}) as times) as waits`,
    )
    return rows[0] ?? { p50: 0, p99: 0, max: 0 }
  }
  try {
    return {
      stored: await read('select created_at, stored_at as done_at from llm_requests'),
      scored: await read(
        'select request_created_at as created_at, max(pg_xact_commit_timestamp(xmin)) as done_at from safety_scores group by project_id, request_id, 1',
      ),
    }
  } finally {
    await client.end()
  }
}

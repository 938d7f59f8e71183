import type { Pool } from 'pg'
import { idToUuid } from '#schemas/ids.ts'
import type { Answer } from './start-api.ts'
import { until } from './until.ts'

/** Status and code of `call`, which starts before a user is changed and writes after the change. */
export async function changeMeanwhile(
  pool: Pool,
  personId: string,
  change: string,
  call: () => Promise<Answer>,
): Promise<[number, unknown]> {
  const client = await pool.connect()
  await client.query('begin')
  const { rows } = await client.query<{ pid: number }>(
    `update people set ${change} where id = $1 returning pg_backend_pid() as pid`,
    [idToUuid(personId)],
  )
  const answer = call()
  await until(async () => {
    const waiting = await pool.query(
      'select 1 from pg_stat_activity where $1 = any (pg_blocking_pids(pid))',
      [rows[0]?.pid],
    )
    return waiting.rowCount === 1
  })
  await client.query('commit')
  client.release()
  const { status, json } = await answer
  return [status, json['code']]
}

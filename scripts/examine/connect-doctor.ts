import { Client } from 'pg'
import { connectionOf, type PostgresAddress } from '#runtime/postgres-address.ts'

/**
 * A connection whose statements time out after ten seconds. Set by a statement, because PgBouncer refuses it
 * as a connection option.
 */
export async function connectDoctor(address: PostgresAddress): Promise<Client> {
  const client = new Client({
    ...connectionOf(address),
    application_name: 'sluice-doctor',
    connectionTimeoutMillis: 5_000,
  })
  await client.connect()
  await client.query(`set statement_timeout = '10s'`)
  return client
}

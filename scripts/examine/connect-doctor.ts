import { Client } from 'pg'
import { connectionOf, type PostgresAddress } from '#runtime/postgres-address.ts'

/** A connection whose statements end within ten seconds. Set by a statement: PgBouncer refuses it among a connection's options. */
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

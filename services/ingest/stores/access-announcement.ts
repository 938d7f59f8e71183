import type { PoolClient } from 'pg'
import { accessChannel } from '../access/access-changes.ts'

/** Tells every process that a key or a setting of the project changed, once this transaction is committed. */
export async function announceAccessChange(client: PoolClient, projectId: string): Promise<void> {
  await client.query('select pg_notify($1, $2)', [accessChannel, projectId])
}

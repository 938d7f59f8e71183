import type { Pool } from 'pg'
import { idToUuid, newId } from '#schemas/ids.ts'

/** A webhook of the project that nobody sends to. Returns its identifier. */
export async function addWebhook(pool: Pool, projectId: string): Promise<string> {
  const id = newId('webhook')
  await pool.query(
    `insert into webhooks (id, project_id, url, events, secret_codec, secret_data, created_at, updated_at)
     values ($1, $2, 'https://receiver.example', '{threat_detected}', 'none', 'x', now(), now())`,
    [idToUuid(id), idToUuid(projectId)],
  )
  return id
}

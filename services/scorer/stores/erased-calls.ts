import type { Pool } from 'pg'
import { query } from '#runtime/postgres.ts'
import { idTimeMs, idToUuid } from '#schemas/ids.ts'
import type { ScoreJob } from '#schemas/safety-score-job.ts'

/** Whether a job's call is to be erased (docs/decisions/0007): topics and their replays still have it. */
export type IsErased = (
  job: Pick<ScoreJob, 'project_id' | 'request_id' | 'session_id' | 'user_id'>,
) => Promise<boolean>

export function createIsErased(pool: Pool): IsErased {
  return async ({ project_id, request_id, session_id, user_id }) => {
    const { rows } = await query<{ erased: boolean }>(pool, isErasedSql, [
      idToUuid(project_id),
      request_id,
      idToUuid(request_id),
      session_id,
      user_id,
      new Date(idTimeMs(request_id)),
    ])
    return rows[0]?.erased === true
  }
}

const asked = (scope: string, subject: string) =>
  `(e.scope = '${scope}' and md5(e.subject) = md5(${subject}) and e.subject = ${subject})`

const isErasedSql = `
  select exists (select from erased_requests where project_id = $1 and request = $2) or exists (
    select from erasures e where e.project_id = $1 and e.requested_at >= $6 and (
      ${asked('request', '$3::text')} or ${asked('session', '$4::text')} or ${asked('user', '$5::text')} or ${asked('project', `''`)})
  ) as erased`

import type { Pool, PoolClient } from 'pg'
import { query } from '#runtime/postgres.ts'
import { idToUuid, newId } from '#schemas/ids.ts'
import type { Principal, SignedIn } from '#http/access/principal.ts'

/** What is written down of a change, or of something shown. */
export interface AuditEntry {
  /** `webhook.created`: the kind of thing, and what became of it. */
  action: string
  /** The thing's identifier, or its name where it has none. */
  subject: string | null
  projectId: string | null
  /** What was changed to what, never a secret and never what was recorded. */
  detail?: Readonly<Record<string, unknown>>
}

const columns = 'id, at, actor_kind, actor_id, actor_name, address, action, subject, project_id, detail'

/** Who did it: whoever asks, or whoever has just been let in. */
export type Actor =
  | Exclude<Principal, { kind: 'person' }>
  | { kind: 'person'; person: Pick<SignedIn, 'personId' | 'login' | 'address'> }

/** Writes an entry on the connection of the change that it is about, so that there is neither without the other. */
export async function writeAudit(
  client: PoolClient | Pool,
  actor: Actor,
  entry: AuditEntry,
  nowMs: number,
): Promise<void> {
  await query(
    client,
    `insert into audit_log (${columns}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    rowOf(actor, entry, nowMs),
  )
}

/** One entry for each dead letter that something was decided about: at most 500 at a time. */
export async function auditDecided(
  client: PoolClient,
  by: Actor,
  action: string,
  letters: readonly { id: string; project_id: string | null }[],
  nowMs: number,
): Promise<void> {
  for (const { id: subject, project_id: projectId } of letters) {
    await writeAudit(client, by, { action, subject, projectId }, nowMs)
  }
}

/** The same person looking at the same thing again within this, or being refused again, is written down once: pages that poll, and guesses, would fill the log. */
const sameViewMs = 10 * 60_000

/** Writes down that a person is about to be shown something, before they are. Keys and the operator are programs, and not written down. */
export async function writeView(pool: Pool, actor: Actor, entry: AuditEntry, nowMs: number): Promise<void> {
  if (actor.kind !== 'person') return
  await query(
    pool,
    `insert into audit_log (${columns})
     select $1, $2::timestamptz, $3, $4::uuid, $5, $6, $7::text, $8::text, $9::uuid, $10::jsonb
     where not exists (select from audit_log a where a.actor_id = $4 and a.at > $11 and a.action = $7 and a.subject = $8
       and a.project_id is not distinct from $9)`,
    [...rowOf(actor, entry, nowMs), new Date(nowMs - sameViewMs)],
  )
}

function rowOf(actor: Actor, { action, subject, projectId, detail }: AuditEntry, nowMs: number) {
  const { kind, id, name, address } = describeActor(actor)
  return [
    idToUuid(newId('audit', nowMs)),
    new Date(nowMs),
    kind,
    id === null ? null : idToUuid(id),
    name,
    address,
    action,
    subject,
    projectId === null ? null : idToUuid(projectId),
    detail === undefined ? null : JSON.stringify(detail),
  ]
}

function describeActor(actor: Actor) {
  switch (actor.kind) {
    case 'person': {
      const { personId, login, address } = actor.person
      return { kind: 'person', id: personId, name: login, address }
    }
    case 'key':
      return { kind: 'key', id: actor.key.keyId, name: null, address: null }
    case 'operator':
      return { kind: 'operator', id: null, name: null, address: null }
    case 'anonymous':
      throw new Error('nobody can change anything')
  }
}

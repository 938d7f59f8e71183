import type { Pool, PoolClient } from 'pg'
import { query } from '#runtime/postgres.ts'
import { idToUuid, newId } from '#schemas/ids.ts'
import type { Principal, SignedIn } from '#http/access/principal.ts'

/** An entry of the audit log, for a change or for content that was shown. */
export interface AuditEntry {
  /** `webhook.created`: the kind of object, and what happened to it. */
  action: string
  /** The object's id, or its name when it has none. */
  subject: string | null
  projectId: string | null
  /** The old and new values; never a secret, never recorded content. */
  detail?: Readonly<Record<string, unknown>>
}

/** The detail of a change: the new values, and under `before` those that they replace. */
export function changedFrom(before: object, changes: object): Record<string, unknown> {
  const old = before as Readonly<Record<string, unknown>>
  const given = Object.entries(changes).filter(([, value]) => value !== undefined)
  return {
    ...Object.fromEntries(given),
    before: Object.fromEntries(given.map(([name]) => [name, old[name] ?? null])),
  }
}

const columns = 'id, at, actor_kind, actor_id, actor_name, address, action, subject, project_id, detail'

/** Who did it: the caller, the user who has just signed in, or the operator's SLUICE_INIT_FILE. */
export type Actor =
  | { kind: 'init_file' }
  | Exclude<Principal, { kind: 'person' }>
  | { kind: 'person'; person: Pick<SignedIn, 'personId' | 'login' | 'address'> }

/** Writes an entry on the connection of its change, so that both are committed or neither. */
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

/** One entry per decided dead letter, at most 500 at a time. */
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

/**
 * Repeated views and refusals of one user within this time are written once: polling pages and guesses would
 * fill the log.
 */
const sameViewMs = 10 * 60_000

/**
 * Writes an entry before content is shown to a user. Keys and the operator are programs and are not logged.
 */
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
    case 'init_file':
      return { kind: 'operator', id: null, name: 'init file', address: null }
    case 'anonymous':
      throw new Error('nobody can change anything')
  }
}

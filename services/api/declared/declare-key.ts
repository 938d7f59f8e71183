import { idFromUuid, idToUuid } from '#schemas/ids.ts'
import { announceAccessChange } from '#http/access/access-changes.ts'
import { hashOfKey } from '#http/access/credentials.ts'
import { newLimits } from '../routes/key-schemas.ts'
import { definedOf } from '../routes/project-fields.ts'
import { changedFrom, writeAudit } from '../stores/audit-store.ts'
import { changeKey, findKey, insertKey } from '../stores/key-admin-store.ts'
import { changedFields } from './changed-fields.ts'
import type { Declaration } from './declaration.ts'
import type { DeclaredKey } from './init-file.ts'

interface KeyRow {
  id: string
  project_id: string
  name: string
  scope: string
  expires_at: Date | null
  revoked_at: Date | null
}

/**
 * A key is itself: another one under the same name is one more. A revoked one stays revoked: who revoked it
 * knew more than the file.
 */
export async function declareKey(
  declaration: Declaration,
  projectId: string,
  key: DeclaredKey,
  path: string,
): Promise<void> {
  const { client, actor, nowMs, log } = declaration
  const { rows } = await client.query<KeyRow>(
    'select id, project_id, name, scope, expires_at, revoked_at from api_keys where secret_sha256 = $1',
    [hashOfKey(key.key)],
  )
  const [stored] = rows
  if (stored === undefined) return insert(declaration, projectId, key)
  if (stored.project_id !== idToUuid(projectId)) {
    declaration.fault(`${path}.key`, 'is a key of another project')
    return
  }
  const id = idFromUuid('key', stored.id)
  if (stored.revoked_at !== null) {
    log.warn({ key: id, field: path }, 'the init file declares a key that was revoked; it stays revoked')
    return
  }
  const before = { ...stored, expires_at: stored.expires_at?.getTime() ?? null }
  const { name, scope, expires_at } = key
  const changes = changedFields(before, { name, scope, expires_at })
  await changeLimits(declaration, projectId, id, key)
  if (Object.keys(changes).length === 0) return
  await client.query('update api_keys set name = $2, scope = $3, expires_at = $4 where id = $1', [
    stored.id,
    name,
    scope,
    expires_at === undefined ? stored.expires_at : dateOf(expires_at),
  ])
  await announceAccessChange(client, projectId)
  const detail = changedFrom(before, changes)
  await writeAudit(client, actor, { action: 'key.changed', subject: id, projectId, detail }, nowMs)
  declaration.count('changed')
}

async function changeLimits(
  { client, actor, nowMs, count }: Declaration,
  projectId: string,
  keyId: string,
  { key: _key, name: _name, scope: _scope, expires_at: _expires, ...limits }: DeclaredKey,
): Promise<void> {
  const changes = changedFields((await findKey(client, projectId, keyId, nowMs)) ?? {}, limits)
  if (Object.keys(changes).length === 0) return
  await changeKey(client, actor, { projectId, keyId, changes }, nowMs)
  count('changed')
}

async function insert(declaration: Declaration, projectId: string, declared: DeclaredKey): Promise<void> {
  const { client, actor, nowMs } = declaration
  const { key, name, scope, expires_at: expiresAtMs = null, ...limits } = declared
  const label = /^svc_(.{1,32})_/.exec(key)?.[1] ?? null
  const input = { ...newLimits, ...definedOf(limits), key, name, scope, expiresAtMs, label }
  await insertKey(client, actor, projectId, input, nowMs)
  declaration.count('created')
}

function dateOf(ms: number | null): Date | null {
  return ms === null ? null : new Date(ms)
}

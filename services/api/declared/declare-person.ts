import { newId } from '#schemas/ids.ts'
import { changedFrom, writeAudit } from '../stores/audit-store.ts'
import { endLogins } from '../stores/login-store.ts'
import { changePerson, findCredentials, findPerson, insertPerson } from '../stores/people-store.ts'
import { changedFields } from './changed-fields.ts'
import type { Declaration } from './declaration.ts'
import type { DeclaredPerson } from './init-file.ts'

/** A user is their login. The password is theirs once it is set: the file gives only the first. */
export async function declarePerson(
  declaration: Declaration,
  person: DeclaredPerson,
  projectIds: readonly string[] | undefined,
  path: string,
): Promise<void> {
  const { client, actor, hasher, nowMs } = declaration
  const { login, name, role, disabled, initial_password: password } = person
  if (password?.toLowerCase() === login) {
    declaration.fault(`${path}.initial_password`, 'must not be the login')
    return
  }
  const known = await findCredentials(client, { login })
  if (known === undefined) {
    const id = newId('person', nowMs)
    const passwordHash = password === undefined ? null : await hasher.hash(password)
    await insertPerson(client, { id, login, name, role, projectIds: projectIds ?? [], passwordHash }, nowMs)
    if (disabled === true) await changePerson(client, id, { disabled }, nowMs)
    const detail = { login, role, project_ids: projectIds ?? [] }
    await writeAudit(client, actor, { action: 'person.created', subject: id, projectId: null, detail }, nowMs)
    declaration.count('created')
    return
  }
  const before = await findPerson(client, known.id)
  if (before === undefined) throw new Error(`the user ${known.id} is gone within the transaction`)
  const changes = changedFields(before, { name, role, disabled, project_ids: projectIds })
  if (Object.keys(changes).length === 0) return
  await changePerson(client, known.id, changes, nowMs)
  if (changes.disabled === true) await endLogins(client, known.id)
  const detail = changedFrom(before, changes)
  await writeAudit(
    client,
    actor,
    { action: 'person.changed', subject: known.id, projectId: null, detail },
    nowMs,
  )
  declaration.count('changed')
}

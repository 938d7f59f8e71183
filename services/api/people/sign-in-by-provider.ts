import type { PoolClient } from 'pg'
import { newId } from '#schemas/ids.ts'
import type { Role } from '#http/access/principal.ts'
import { writeAudit } from '../stores/audit-store.ts'
import {
  changePerson,
  findCredentials,
  findPerson,
  insertPerson,
  linkProvider,
} from '../stores/people-store.ts'

/** The claims of an OpenID provider about a user, and the role that their groups give. */
export interface ProviderClaims {
  issuer: string
  subject: string
  login: string
  login_is_verified: boolean
  name: string
  role: Role
}

interface Recognised {
  personId: string
  login: string
  refused: 'disabled' | 'taken' | undefined
}

/**
 * The user, created when new. Issuer and subject identify them, because logins change hands. A user whom an
 * administrator created without a password is linked once the provider has verified the login. No other user
 * is linked.
 */
export async function signInByProvider(
  client: PoolClient,
  claims: ProviderClaims,
  nowMs: number,
): Promise<Recognised> {
  const { issuer, subject, login, role } = claims
  const named =
    (await findCredentials(client, { issuer, subject })) ?? (await findCredentials(client, { login }))
  // Also when found by login: another window may have created them between the two queries.
  const isLinked = named?.oidcIssuer === issuer && named.oidcSubject === subject
  const waitsForThem = named?.passwordHash === null && named.oidcIssuer === null && claims.login_is_verified
  if (named === undefined) {
    const personId = await makePerson(client, claims, nowMs)
    // The login was taken meanwhile, perhaps by the same user in another window.
    return personId === undefined
      ? signInByProvider(client, claims, nowMs)
      : { personId, login, refused: undefined }
  }
  if (!isLinked && !waitsForThem) return { personId: named.id, login, refused: 'taken' }
  if (named.disabled) return { personId: named.id, login, refused: 'disabled' }
  if (!isLinked) {
    await linkProvider(client, named.id, { issuer, subject })
    await audit(client, claims, named.id, 'person.linked', { issuer, subject }, nowMs)
  }
  const before = await findPerson(client, named.id)
  if (before !== undefined && before.role !== role) {
    await changePerson(client, named.id, { role }, nowMs)
    await audit(client, claims, named.id, 'person.changed', { role }, nowMs)
  }
  return { personId: named.id, login: before?.login ?? login, refused: undefined }
}

/** Undefined when the login is taken. */
async function makePerson(
  client: PoolClient,
  claims: ProviderClaims,
  nowMs: number,
): Promise<string | undefined> {
  const { issuer, subject, login, name, role } = claims
  const personId = newId('person', nowMs)
  const person = {
    id: personId,
    login,
    name,
    role,
    projectIds: [],
    passwordHash: null,
    oidc: { issuer, subject },
  }
  if (!(await insertPerson(client, person, nowMs))) return undefined
  await audit(client, claims, personId, 'person.created', { login, role, issuer }, nowMs)
  return personId
}

function audit(
  client: PoolClient,
  { login }: ProviderClaims,
  personId: string,
  action: string,
  detail: Record<string, unknown>,
  nowMs: number,
): Promise<void> {
  const actor = { kind: 'person', person: { personId, login, address: null } } as const
  return writeAudit(client, actor, { action, subject: personId, projectId: null, detail }, nowMs)
}

import type { Pool, PoolClient } from 'pg'
import { query } from '#runtime/postgres.ts'
import { idFromUuid, idToUuid } from '#schemas/ids.ts'
import type { Role } from '#http/access/principal.ts'

/** A user of the dashboard. */
export interface Person {
  id: string
  login: string
  name: string
  role: Role
  /** The visible projects; empty for administrators, who see all. */
  project_ids: string[]
  has_password: boolean
  /** The user's OpenID provider; null: none so far. */
  oidc_issuer: string | null
  disabled: boolean
  created_at: string
  last_login_at: string | null
}

interface PersonRow extends Omit<Person, 'created_at' | 'last_login_at'> {
  created_at: Date
  last_login_at: Date | null
}

export interface NewPerson {
  id: string
  login: string
  name: string
  role: Role
  projectIds: readonly string[]
  passwordHash: string | null
  oidc?: { issuer: string; subject: string }
}

export interface PersonChanges {
  name?: string | undefined
  role?: Role | undefined
  project_ids?: readonly string[] | undefined
  disabled?: boolean | undefined
}

const selectPerson = `select p.id, p.login, p.name, p.role, p.password_hash is not null as has_password, p.oidc_issuer,
    p.disabled_at is not null as disabled, p.created_at, p.last_login_at,
    array(select a.project_id from people_projects a where a.person_id = p.id order by a.project_id) as project_ids
  from people p`

export async function findPerson(client: Pool | PoolClient, personId: string): Promise<Person | undefined> {
  const { rows } = await query<PersonRow>(client, `${selectPerson} where p.id = $1`, [idToUuid(personId)])
  return rows.map(personOf)[0]
}

/** By login, all roles alike. */
export async function listPeople(
  pool: Pool,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ items: Person[]; total: number }> {
  const { rows } = await query<PersonRow>(pool, `${selectPerson} order by p.login limit $1 offset $2`, [
    limit,
    offset,
  ])
  const counted = await query<{ total: number }>(pool, 'select count(*)::integer as total from people')
  return { items: rows.map(personOf), total: counted.rows[0]?.total ?? 0 }
}

/** False when the login, or the provider's account, is taken. */
export async function insertPerson(client: PoolClient, person: NewPerson, nowMs: number): Promise<boolean> {
  const { rowCount } = await client.query(
    `insert into people (id, login, name, role, password_hash, oidc_issuer, oidc_subject, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict do nothing`,
    [
      idToUuid(person.id),
      person.login,
      person.name,
      person.role,
      person.passwordHash,
      person.oidc?.issuer ?? null,
      person.oidc?.subject ?? null,
      new Date(nowMs),
    ],
  )
  if (rowCount !== 1) return false
  await setProjects(client, person.id, person.projectIds)
  return true
}

/** Undefined fields stay. */
export async function changePerson(
  client: PoolClient,
  personId: string,
  { name, role, project_ids, disabled }: PersonChanges,
  nowMs: number,
): Promise<void> {
  await client.query(
    `update people set name = coalesce($2, name), role = coalesce($3, role),
       disabled_at = case when $4::boolean is null then disabled_at when $4 then coalesce(disabled_at, $5) end
     where id = $1`,
    [idToUuid(personId), name ?? null, role ?? null, disabled ?? null, new Date(nowMs)],
  )
  if (project_ids !== undefined) await setProjects(client, personId, project_ids)
}

/** Sets those of the projects that exist. */
async function setProjects(
  client: PoolClient,
  personId: string,
  projectIds: readonly string[],
): Promise<void> {
  const uuids = projectIds.map(idToUuid)
  await client.query('delete from people_projects where person_id = $1', [idToUuid(personId)])
  await client.query(
    'insert into people_projects (person_id, project_id) select $1, id from projects where id = any ($2::uuid[])',
    [idToUuid(personId), uuids],
  )
}

/** Those of the projects that do not exist. */
export async function unknownProjects(pool: Pool, projectIds: readonly string[]): Promise<string[]> {
  const { rows } = await query<{ id: string }>(pool, 'select id from projects where id = any ($1::uuid[])', [
    projectIds.map(idToUuid),
  ])
  const known = new Set(rows.map(({ id }) => idFromUuid('project', id)))
  return projectIds.filter((id) => !known.has(id))
}

/** Projects offered for selection. */
const maxShownProjects = 500

/** Names of the given projects, or of all, sorted by name; and their number. */
export async function namesOfProjects(
  pool: Pool,
  projectIds: readonly string[] | null,
): Promise<{ projects: { id: string; name: string }[]; count: number }> {
  const { rows } = await query<{ id: string; name: string; count: number }>(
    pool,
    'select id, name, (count(*) over ())::integer as count from projects where $1::uuid[] is null or id = any ($1) order by name, id limit $2',
    [projectIds?.map(idToUuid) ?? null, maxShownProjects],
  )
  const projects = rows.map(({ id, name }) => ({ id: idFromUuid('project', id), name }))
  return { projects, count: rows[0]?.count ?? 0 }
}

/** False when `only` is given and the user's password is another by now. */
export async function setPassword(
  client: PoolClient,
  personId: string,
  hash: string,
  only?: string,
): Promise<boolean> {
  const { rowCount } = await client.query(
    'update people set password_hash = $2 where id = $1 and ($3::text is null or password_hash = $3)',
    [idToUuid(personId), hash, only ?? null],
  )
  return rowCount === 1
}

/** Serialises changes that depend on the number of administrators, until the transaction ends. */
export async function lockPeople(client: PoolClient): Promise<void> {
  await client.query('lock table people in share row exclusive mode')
}

/** Administrators who can sign in: with a password, or through a provider before. */
export async function countAdministrators(client: PoolClient): Promise<number> {
  const { rows } = await client.query<{ count: number }>(
    `select count(*)::integer as count from people
     where role = 'admin' and disabled_at is null and (password_hash is not null or oidc_issuer is not null)`,
  )
  return rows[0]?.count ?? 0
}

/** What a sign-in needs. */
export interface Credentials {
  id: string
  passwordHash: string | null
  disabled: boolean
  oidcIssuer: string | null
  oidcSubject: string | null
}

type By = { login: string } | { personId: string } | { issuer: string; subject: string }

export async function findCredentials(client: Pool | PoolClient, by: By): Promise<Credentials | undefined> {
  const [condition, values] =
    'login' in by
      ? ['login = $1', [by.login]]
      : 'personId' in by
        ? ['id = $1', [idToUuid(by.personId)]]
        : ['oidc_issuer = $1 and oidc_subject = $2', [by.issuer, by.subject]]
  const { rows } = await query<{
    id: string
    password_hash: string | null
    disabled_at: Date | null
    oidc_issuer: string | null
    oidc_subject: string | null
  }>(
    client,
    `select id, password_hash, disabled_at, oidc_issuer, oidc_subject from people where ${condition}`,
    values,
  )
  return rows.map((row) => ({
    id: idFromUuid('person', row.id),
    passwordHash: row.password_hash,
    disabled: row.disabled_at !== null,
    oidcIssuer: row.oidc_issuer,
    oidcSubject: row.oidc_subject,
  }))[0]
}

/** Links a user without password and provider to the provider's account. */
export async function linkProvider(
  client: PoolClient,
  personId: string,
  { issuer, subject }: { issuer: string; subject: string },
): Promise<void> {
  await client.query('update people set oidc_issuer = $2, oidc_subject = $3 where id = $1', [
    idToUuid(personId),
    issuer,
    subject,
  ])
}

function personOf(row: PersonRow): Person {
  return {
    ...row,
    id: idFromUuid('person', row.id),
    project_ids: row.project_ids.map((uuid) => idFromUuid('project', uuid)),
    created_at: row.created_at.toISOString(),
    last_login_at: row.last_login_at?.toISOString() ?? null,
  }
}

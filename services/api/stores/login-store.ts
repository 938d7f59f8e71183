import { randomBytes } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'
import { query } from '#runtime/postgres.ts'
import type { Clock } from '#runtime/clock.ts'
import { idFromUuid, idToUuid, newId } from '#schemas/ids.ts'
import { sha256 } from '#http/access/credentials.ts'
import type { Role, SignedIn } from '#http/access/principal.ts'

const tokenPattern = /^[A-Za-z0-9_-]{43}$/
/** Logins of one user; a further one ends the oldest. */
const maxLogins = 20

export interface LoginLimits {
  idleMs: number
  maxMs: number
}

export interface Login {
  id: string
  created_at: string
  last_seen_at: string
  ends_at: string
  address: string | null
  user_agent: string | null
}

/** The signed-in user, by token. Read with every request, so that an ended login ends in every process. */
export interface LoginStore {
  find(token: string): Promise<Omit<SignedIn, 'address'> | undefined>
}

interface FoundRow {
  id: string
  person_id: string
  login: string
  name: string
  role: Role
  project_ids: string[]
}

export function createLoginStore(pool: Pool, clock: Clock, { idleMs }: LoginLimits): LoginStore {
  return {
    async find(token) {
      if (!tokenPattern.test(token)) return undefined
      const { rows } = await query<FoundRow>(pool, 'select * from find_login($1, $2, $3)', [
        sha256(token),
        new Date(clock.now()),
        `${idleMs} milliseconds`,
      ])
      return rows.map((row) => ({
        personId: idFromUuid('person', row.person_id),
        login: row.login,
        name: row.name,
        role: row.role,
        projectIds: row.role === 'admin' ? null : row.project_ids.map((uuid) => idFromUuid('project', uuid)),
        loginId: idFromUuid('login', row.id),
      }))[0]
    },
  }
}

export interface Begun {
  /** Only in this answer: its SHA-256 is stored. */
  token: string
  endsAt: string
}

/** The proof of a user's identity: by which password, if by one. */
export interface Shown {
  personId: string
  passwordHash?: string | undefined
}

/** Starts a login with a new token. Undefined: the user is disabled by now, or has another password. */
export async function beginLogin(
  client: PoolClient,
  { personId, passwordHash }: Shown,
  from: { address: string | null; userAgent: string | null },
  { maxMs }: LoginLimits,
  nowMs: number,
): Promise<Begun | undefined> {
  const token = randomBytes(32).toString('base64url')
  const endsAt = new Date(nowMs + maxMs)
  const person = idToUuid(personId)
  // First, because checking a password takes up to seconds. A concurrent change of it is waited for, or waits
  // and then ends this login.
  const { rowCount } = await client.query(
    `update people set last_login_at = $2
     where id = $1 and disabled_at is null and ($3::text is null or password_hash = $3)`,
    [person, new Date(nowMs), passwordHash ?? null],
  )
  if (rowCount !== 1) return undefined
  await client.query(
    `delete from logins where token_sha256 in (
       select token_sha256 from logins where person_id = $1 order by created_at desc offset $2)`,
    [person, maxLogins - 1],
  )
  await client.query(
    `insert into logins (token_sha256, id, person_id, created_at, last_seen_at, ends_at, address, user_agent)
     values ($1, $2, $3, $4, $4, $5, $6, $7)`,
    [
      sha256(token),
      idToUuid(newId('login', nowMs)),
      person,
      new Date(nowMs),
      endsAt,
      from.address,
      from.userAgent,
    ],
  )
  return { token, endsAt: endsAt.toISOString() }
}

/** Which of a user's logins: all, one, or all but one. */
export interface WhichLogins {
  only?: string
  except?: string
}

/** Ends them; returns their number. */
export async function endLogins(
  client: PoolClient,
  personId: string,
  { only, except }: WhichLogins = {},
): Promise<number> {
  const { rowCount } = await client.query(
    `delete from logins where person_id = $1 and ($2::uuid is null or id = $2) and ($3::uuid is null or id <> $3)`,
    [
      idToUuid(personId),
      only === undefined ? null : idToUuid(only),
      except === undefined ? null : idToUuid(except),
    ],
  )
  return rowCount ?? 0
}

/** Valid logins, the latest first. */
export async function listLogins(
  pool: Pool,
  personId: string,
  { idleMs }: LoginLimits,
  nowMs: number,
): Promise<Login[]> {
  const { rows } = await query<
    Omit<Login, 'created_at' | 'last_seen_at' | 'ends_at'> &
      Record<'created_at' | 'last_seen_at' | 'ends_at', Date>
  >(
    pool,
    `select id, created_at, last_seen_at, ends_at, address, user_agent from logins
     where person_id = $1 and ends_at > $2 and last_seen_at > $3 order by last_seen_at desc`,
    [idToUuid(personId), new Date(nowMs), new Date(nowMs - idleMs)],
  )
  return rows.map((row) => ({
    ...row,
    id: idFromUuid('login', row.id),
    created_at: row.created_at.toISOString(),
    last_seen_at: row.last_seen_at.toISOString(),
    ends_at: row.ends_at.toISOString(),
  }))
}

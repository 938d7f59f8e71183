import type { Pool } from 'pg'
import { z } from 'zod'
import type { Clock } from '#runtime/clock.ts'
import { inTransaction } from '#runtime/postgres.ts'
import { roles } from '#http/access/principal.ts'
import { idField } from '#http/fields.ts'
import { Problem, notFound } from '#http/problem.ts'
import { route, type Route } from '#http/route.ts'
import { listForm, readPaging } from '../http/paging.ts'
import { personOf } from '../people/authenticate-people.ts'
import { checkPassword, type PasswordHasher } from '../people/hash-password.ts'
import { writeAudit } from '../stores/audit-store.ts'
import { judgeField, readJudge } from '../stores/judge-status-store.ts'
import { endLogins, listLogins, type LoginLimits } from '../stores/login-store.ts'
import type { ThrottleStore } from '../stores/login-throttle-store.ts'
import { findCredentials, namesOfProjects, setPassword } from '../stores/people-store.ts'
import { loginsReply, passwordField, refuseNamedPassword } from './people-schemas.ts'

export interface MeOptions {
  pool: Pool
  hasher: PasswordHasher
  throttles: ThrottleStore
  limits: LoginLimits
  clock: Clock
}

/** Routes for a signed-in user's own account. */
export function meRoutes(options: MeOptions): Route[] {
  return [
    meRoute(options),
    passwordRoute(options),
    signOutRoute(options),
    loginsRoute(options),
    endLoginRoute(options),
  ]
}

// Only the dashboard, which holds the operator's secret, acts for users.
const common = { access: 'operator', tag: 'Oneself' } as const

function meRoute({ pool }: MeOptions): Route {
  return route({
    ...common,
    method: 'get',
    path: '/api/me',
    summary: 'The signed-in user and the visible projects.',
    reply: {
      status: 200,
      description: 'The user.',
      schema: z.object({
        id: z.string(),
        login: z.string(),
        name: z.string(),
        role: z.enum(roles),
        sees_every_project: z.boolean(),
        projects: z.array(z.object({ id: z.string(), name: z.string() })).describe('By name, 500 at most.'),
        project_count: z.number().int().describe('All visible projects, listed here or not.'),
        login_id: z.string().describe('The current login.'),
        judge: judgeField,
      }),
    },
    async handle({ principal }) {
      const { personId: id, login, name, role, projectIds, loginId } = personOf(principal)
      const [{ projects, count }, judge] = await Promise.all([
        namesOfProjects(pool, projectIds),
        readJudge(pool),
      ])
      return {
        json: {
          id,
          login,
          name,
          role,
          sees_every_project: projectIds === null,
          projects,
          project_count: count,
          login_id: loginId,
          judge,
        },
      }
    },
  })
}

function passwordRoute({ pool, hasher, throttles, clock }: MeOptions): Route {
  return route({
    ...common,
    method: 'post',
    path: '/api/me/password',
    summary: 'Change your password. Your other logins end.',
    body: z.strictObject({ current_password: z.string().max(200), new_password: passwordField }),
    reply: { status: 204, description: 'Changed.' },
    problems: { 403: 'The current password is wrong.', 429: 'Too many attempts failed.' },
    async handle({ principal, body }) {
      const { personId, login, loginId, address } = personOf(principal)
      refuseNamedPassword('new_password', body.new_password, login)
      const attempt = { login, address }
      const waitS = await throttles.take(attempt, clock.now())
      if (waitS > 0)
        throw new Problem(429, 'SIGN_IN_THROTTLED', `too many attempts failed: try again in ${waitS} s`, {
          headers: { 'retry-after': String(waitS) },
        })
      const credentials = await findCredentials(pool, { personId })
      const { current_password: current } = body
      const before = credentials?.passwordHash ?? undefined
      const wrong = () => new Problem(403, 'PASSWORD_WRONG', 'current_password: is not your password')
      if (!(await checkPassword({ hasher, throttles }, attempt, current, before))) throw wrong()
      await throttles.clear(attempt)
      const hash = await hasher.hash(body.new_password)
      await inTransaction(pool, async (client) => {
        // An administrator may have changed it meanwhile, because somebody else knows this one.
        if (!(await setPassword(client, personId, hash, before))) throw wrong()
        await endLogins(client, personId, { except: loginId })
        await writeAudit(
          client,
          principal,
          { action: 'person.password_changed', subject: personId, projectId: null },
          clock.now(),
        )
      })
      return {}
    },
  })
}

function signOutRoute({ pool, clock }: MeOptions): Route {
  return route({
    ...common,
    method: 'post',
    path: '/api/me/sign-out',
    summary: 'End this login.',
    reply: { status: 204, description: 'It has ended, in every process.' },
    async handle({ principal }) {
      const { personId, loginId } = personOf(principal)
      const entry = { action: 'person.signed_out', subject: personId, projectId: null }
      await inTransaction(pool, async (client) => {
        if ((await endLogins(client, personId, { only: loginId })) > 0)
          await writeAudit(client, principal, entry, clock.now())
      })
      return {}
    },
  })
}

function loginsRoute({ pool, limits, clock }: MeOptions): Route {
  return route({
    ...common,
    method: 'get',
    path: '/api/me/logins',
    summary: 'Your logins.',
    reply: loginsReply,
    async handle({ principal }) {
      const items = await listLogins(pool, personOf(principal).personId, limits, clock.now())
      return { json: listForm(readPaging({}, 'login'), items, items.length) }
    },
  })
}

function endLoginRoute({ pool, clock }: MeOptions): Route {
  return route({
    ...common,
    method: 'delete',
    path: '/api/me/logins/{login_id}',
    summary: 'End one of your logins.',
    params: z.object({ login_id: idField('login') }),
    reply: { status: 204, description: 'It has ended, in every process.' },
    problems: { 404: 'There is no such login.' },
    async handle({ principal, params: { login_id: only } }) {
      const { personId } = personOf(principal)
      const ended = await inTransaction(pool, async (client) => {
        const count = await endLogins(client, personId, { only })
        if (count > 0) {
          await writeAudit(
            client,
            principal,
            { action: 'person.logins_ended', subject: personId, projectId: null, detail: { count } },
            clock.now(),
          )
        }
        return count
      })
      if (ended === 0) throw notFound('login', only)
      return {}
    },
  })
}

import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import type { Clock } from '#runtime/clock.ts'
import { inTransaction } from '#runtime/postgres.ts'
import { newId } from '#schemas/ids.ts'
import { idField } from '#http/fields.ts'
import { invalidInput, Problem, found } from '#http/problem.ts'
import { route, type Route } from '#http/route.ts'
import { envelope, listForm, listOf, pageFields, readPaging } from '../http/paging.ts'
import type { PasswordHasher } from '../people/hash-password.ts'
import { changedFrom, writeAudit } from '../stores/audit-store.ts'
import { endLogins, listLogins, type LoginLimits } from '../stores/login-store.ts'
import {
  changePerson,
  countAdministrators,
  findPerson,
  insertPerson,
  listPeople,
  lockPeople,
  setPassword,
  unknownProjects,
  type Person,
} from '../stores/people-store.ts'
import {
  loginField,
  loginsReply,
  makePassword,
  passwordField,
  personFields,
  personSchema,
  personWithPassword,
  refuseNamedPassword,
} from './people-schemas.ts'

export interface PeopleOptions {
  pool: Pool
  hasher: PasswordHasher
  limits: LoginLimits
  clock: Clock
}

/** The dashboard's users and their roles. */
export function peopleRoutes(options: PeopleOptions): Route[] {
  return [
    createRoute(options),
    listRoute(options),
    getRoute(options),
    changeRoute(options),
    passwordRoute(options),
    loginsRoute(options),
    endLoginsRoute(options),
  ]
}

const common = { access: 'operator', tag: 'People' } as const
const one = {
  ...common,
  params: z.object({ id: idField('person') }),
  problems: { 404: 'There is no such user.' },
} as const
const reply = { status: 200, description: 'The user.', schema: personSchema } as const
function createRoute({ pool, hasher, clock }: PeopleOptions): Route {
  return route({
    ...common,
    method: 'post',
    path: '/api/people',
    summary: 'Create a user.',
    body: z.strictObject({
      login: loginField,
      name: personFields.name,
      role: personFields.role,
      project_ids: personFields.project_ids.default([]),
      password: passwordField
        .nullish()
        .describe(
          'Absent: one is generated and only in this answer. Null: the user signs in by OpenID Connect.',
        ),
    }),
    reply: { status: 201, description: 'The user.', schema: personWithPassword },
    problems: { 409: 'The login is taken.' },
    async handle({ principal, body: { login, name, role, project_ids: projectIds, password } }) {
      await refuseUnknownProjects(pool, projectIds)
      if (password != null) refuseNamedPassword('password', password, login)
      const made = password === undefined ? makePassword() : undefined
      const passwordHash = password === null ? null : await hasher.hash(password ?? made ?? '')
      const nowMs = clock.now()
      const id = newId('person', nowMs)
      const person = await inTransaction(pool, async (client) => {
        const isNew = await insertPerson(client, { id, login, name, role, projectIds, passwordHash }, nowMs)
        if (!isNew) throw new Problem(409, 'LOGIN_TAKEN', `login: somebody has ${login} already`)
        const detail = { login, role, project_ids: projectIds }
        await writeAudit(
          client,
          principal,
          { action: 'person.created', subject: id, projectId: null, detail },
          nowMs,
        )
        return findPerson(client, id)
      })
      return { status: 201, json: { ...person, ...(made === undefined ? {} : { password: made }) } }
    },
  })
}

async function refuseUnknownProjects(pool: Pool, projectIds: readonly string[] | undefined): Promise<void> {
  const [unknown] = await unknownProjects(pool, projectIds ?? [])
  if (unknown !== undefined)
    throw invalidInput([{ path: 'project_ids', message: `there is no project ${unknown}` }])
}

function listRoute({ pool }: PeopleOptions): Route {
  return route({
    ...common,
    method: 'get',
    path: '/api/people',
    summary: 'All users, by login.',
    query: z.strictObject(pageFields),
    reply: { status: 200, description: 'Users.', schema: listOf(personSchema) },
    async handle({ query }) {
      const paging = readPaging(query, 'person')
      const { items, total } = await listPeople(pool, paging)
      return { json: envelope(paging, items, { total, isExact: true }) }
    },
  })
}

function getRoute({ pool }: PeopleOptions): Route {
  return route({
    ...one,
    method: 'get',
    path: '/api/people/{id}',
    summary: 'One user of the dashboard.',
    reply,
    handle: async ({ params: { id } }) => ({ json: found(await findPerson(pool, id), 'person', id) }),
  })
}

function changeRoute({ pool, clock }: PeopleOptions): Route {
  return route({
    ...one,
    method: 'patch',
    path: '/api/people/{id}',
    summary: 'Change a user. Takes effect with the next request. Disabling ends the logins.',
    body: z.strictObject({ ...personFields, disabled: z.boolean() }).partial(),
    reply,
    problems: { ...one.problems, 409: 'No administrator would be left.' },
    async handle({ principal, params: { id }, body }) {
      await refuseUnknownProjects(pool, body.project_ids)
      const nowMs = clock.now()
      const person = await changeIn(pool, id, async (client, before) => {
        await lockPeople(client)
        await changePerson(client, id, body, nowMs)
        const takesOneAway =
          before.role === 'admin' && (body.disabled === true || (body.role ?? 'admin') !== 'admin')
        if (takesOneAway && (await countAdministrators(client)) === 0) {
          throw new Problem(409, 'LAST_ADMINISTRATOR', 'no administrator would be left')
        }
        if (body.disabled === true) await endLogins(client, id)
        await writeAudit(
          client,
          principal,
          { action: 'person.changed', subject: id, projectId: null, detail: changedFrom(before, body) },
          nowMs,
        )
      })
      return { json: person }
    },
  })
}

/** The user after `change`. Throws 404 when the id is unknown. */
function changeIn(
  pool: Pool,
  id: string,
  change: (client: PoolClient, before: Person) => Promise<void>,
): Promise<Person> {
  return inTransaction(pool, async (client) => {
    await change(client, found(await findPerson(client, id), 'person', id))
    return found(await findPerson(client, id), 'person', id)
  })
}

function passwordRoute({ pool, hasher, clock }: PeopleOptions): Route {
  return route({
    ...one,
    method: 'post',
    path: '/api/people/{id}/password',
    summary: 'Set a new password of a user. The logins end.',
    body: z
      .strictObject({ password: passwordField.optional().describe('Absent: one is generated.') })
      .prefault({}),
    reply: { ...reply, schema: personWithPassword },
    async handle({ principal, params: { id }, body: { password } }) {
      const { login } = found(await findPerson(pool, id), 'person', id)
      if (password !== undefined) refuseNamedPassword('password', password, login)
      const made = password === undefined ? makePassword() : undefined
      const hash = await hasher.hash(password ?? made ?? '')
      const person = await changeIn(pool, id, async (client) => {
        await setPassword(client, id, hash)
        await endLogins(client, id)
        await writeAudit(
          client,
          principal,
          { action: 'person.password_reset', subject: id, projectId: null },
          clock.now(),
        )
      })
      return { json: { ...person, ...(made === undefined ? {} : { password: made }) } }
    },
  })
}

function loginsRoute({ pool, limits, clock }: PeopleOptions): Route {
  return route({
    ...one,
    method: 'get',
    path: '/api/people/{id}/logins',
    summary: 'The logins of a user.',
    reply: loginsReply,
    async handle({ params: { id } }) {
      found(await findPerson(pool, id), 'person', id)
      const items = await listLogins(pool, id, limits, clock.now())
      return { json: listForm(readPaging({}, 'login'), items, items.length) }
    },
  })
}

function endLoginsRoute({ pool, clock }: PeopleOptions): Route {
  return route({
    ...one,
    method: 'delete',
    path: '/api/people/{id}/logins',
    summary: 'End all logins of a user, or one.',
    query: z.strictObject({ login_id: idField('login').optional() }),
    reply: { status: 204, description: 'They have ended, in every process.' },
    async handle({ principal, params: { id }, query: { login_id: only } }) {
      await changeIn(pool, id, async (client) => {
        const count = await endLogins(client, id, only === undefined ? {} : { only })
        const detail = { count, ...(only === undefined ? {} : { login_id: only }) }
        await writeAudit(
          client,
          principal,
          { action: 'person.logins_ended', subject: id, projectId: null, detail },
          clock.now(),
        )
      })
      return {}
    },
  })
}

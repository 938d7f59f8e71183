import type { Pool } from 'pg'
import { z } from 'zod'
import type { Clock } from '#runtime/clock.ts'
import type { Log } from '#runtime/log.ts'
import type { Metrics } from '#runtime/metrics.ts'
import { inTransaction } from '#runtime/postgres.ts'
import { newId } from '#schemas/ids.ts'
import { roles } from '#http/access/principal.ts'
import { textField } from '#http/fields.ts'
import { Problem } from '#http/problem.ts'
import { route, type Reply, type Route } from '#http/route.ts'
import { checkPassword, type PasswordHasher } from '../people/hash-password.ts'
import { signInByProvider } from '../people/sign-in-by-provider.ts'
import { writeAudit, writeView } from '../stores/audit-store.ts'
import { beginLogin, type LoginLimits, type Shown } from '../stores/login-store.ts'
import type { ThrottleStore } from '../stores/login-throttle-store.ts'
import { findCredentials, countAdministrators, insertPerson, lockPeople } from '../stores/people-store.ts'
import {
  loginField,
  makePassword,
  passwordField,
  refuseNamedPassword,
  signedInReply,
} from './people-schemas.ts'

export interface SignInOptions {
  pool: Pool
  hasher: PasswordHasher
  throttles: ThrottleStore
  limits: LoginLimits
  clock: Clock
  log: Log
  metrics: Metrics
}

const common = { access: 'operator', method: 'post', tag: 'Signing in' } as const

const fromFields = {
  address: z.union([z.ipv4(), z.ipv6()]).nullable().default(null).describe("The browser's address."),
  user_agent: textField(500).nullable().default(null),
}

/** Routes that the dashboard calls before a user is known, with INTERNAL_API_SECRET alone. */
export function signInRoutes(options: SignInOptions): Route[] {
  const outcomes = options.metrics.counter('sluice_sign_ins_total', 'Attempts to sign in', [
    'method',
    'outcome',
  ])
  const count: Count = (method, outcome) => outcomes.inc({ method, outcome })
  const noteRefused = createNoteRefused(options)
  return [
    firstRoute(options),
    passwordRoute(options, count, noteRefused),
    providerRoute(options, count, noteRefused),
  ]
}

type How = 'password' | 'provider'
type NoteRefused = (person: { personId: string; login: string; address: string | null }, how: How) => void
type Count = (how: How, outcome: 'signed_in' | 'refused' | 'throttled' | 'disabled' | 'taken') => void

function firstRoute({ pool, hasher, clock, log }: SignInOptions): Route {
  return route({
    ...common,
    path: '/internal/people/first',
    summary: 'Create the first administrator if there is no user yet.',
    body: z.strictObject({
      login: loginField.default('admin'),
      password: passwordField.optional().describe('Absent: one is generated and only in this answer.'),
    }),
    reply: {
      status: 200,
      description: 'Whether one was created.',
      schema: z.object({
        created: z.boolean(),
        login: z.string().optional(),
        password: z.string().optional(),
      }),
    },
    async handle({ principal, body: { login, password } }) {
      if (password !== undefined) refuseNamedPassword('password', password, login)
      const made = password === undefined ? makePassword() : undefined
      const passwordHash = await hasher.hash(password ?? made ?? '')
      const nowMs = clock.now()
      const created = await inTransaction(pool, async (client) => {
        await lockPeople(client)
        if ((await countAdministrators(client)) > 0) return false
        const id = newId('person', nowMs)
        const person = {
          id,
          login,
          name: 'Administrator',
          role: 'admin',
          projectIds: [],
          passwordHash,
        } as const
        if (!(await insertPerson(client, person, nowMs))) {
          // A restart must not restore rights that were taken away.
          log.error(
            { login },
            'there is no administrator, and the configured login belongs to a user who is none',
          )
          return false
        }
        await writeAudit(
          client,
          principal,
          { action: 'person.created', subject: id, projectId: null, detail: { login, role: 'admin' } },
          nowMs,
        )
        return true
      })
      if (!created) return { json: { created } }
      return { json: { created, login, ...(made === undefined ? {} : { password: made }) } }
    },
  })
}

function passwordRoute(options: SignInOptions, count: Count, noteRefused: NoteRefused): Route {
  const { pool, hasher, throttles, limits, clock } = options
  return route({
    ...common,
    path: '/internal/people/sign-in',
    summary: 'Sign in by password.',
    body: z.strictObject({ login: textField(200), password: z.string().max(200), ...fromFields }),
    reply: signedInReply,
    problems: { 401: 'Login or password is wrong.', 429: 'Too many attempts failed.' },
    async handle({ body: { login: given, password, address, user_agent: userAgent } }) {
      const login = given.toLowerCase()
      const attempt = { login, address }
      const waitS = await throttles.take(attempt, clock.now())
      if (waitS > 0) {
        count('password', 'throttled')
        throw new Problem(429, 'SIGN_IN_THROTTLED', `too many attempts failed: try again in ${waitS} s`, {
          headers: { 'retry-after': String(waitS) },
        })
      }
      const person = await findCredentials(pool, { login })
      const matches = await checkPassword({ hasher, throttles }, attempt, password, person?.passwordHash)
      const shown =
        matches && person !== undefined
          ? { personId: person.id, login, passwordHash: person.passwordHash ?? undefined }
          : undefined
      const begun =
        shown && (await signIn({ pool, limits, clock }, shown, { address, userAgent }, 'password'))
      if (begun === undefined) {
        count('password', 'refused')
        if (person !== undefined) noteRefused({ personId: person.id, login, address }, 'password')
        throw new Problem(401, 'SIGN_IN_REFUSED', 'nobody has this login and this password')
      }
      await throttles.clear(attempt)
      count('password', 'signed_in')
      return begun
    },
  })
}

function providerRoute(
  { pool, limits, clock }: SignInOptions,
  count: Count,
  noteRefused: NoteRefused,
): Route {
  return route({
    ...common,
    path: '/internal/people/sign-in-by-provider',
    summary: 'Sign in a user by OpenID Connect; a new user is created.',
    body: z.strictObject({
      issuer: textField(500),
      subject: textField(255),
      login: loginField,
      login_is_verified: z
        .boolean()
        .describe('Whether the provider has verified that the login belongs to the user.'),
      name: textField(200),
      role: z.enum(roles).describe("By the user's groups; it replaces the stored role."),
      ...fromFields,
    }),
    reply: signedInReply,
    problems: { 403: 'The user is disabled.', 409: 'The login is taken.' },
    async handle({ body }) {
      const nowMs = clock.now()
      const person = await inTransaction(pool, (client) => signInByProvider(client, body, nowMs))
      const note = () => noteRefused({ ...person, address: body.address }, 'provider')
      if (person.refused === 'taken') {
        count('provider', 'taken')
        note()
        throw new Problem(
          409,
          'LOGIN_TAKEN',
          `somebody else has the login ${body.login}: ask an administrator`,
        )
      }
      const from = { address: body.address, userAgent: body.user_agent }
      const begun =
        person.refused === undefined
          ? await signIn({ pool, limits, clock }, person, from, 'provider')
          : undefined
      count('provider', begun === undefined ? 'disabled' : 'signed_in')
      if (begun === undefined) {
        note()
        throw new Problem(403, 'PERSON_DISABLED', 'your account is disabled')
      }
      return begun
    },
  })
}

/**
 * Writes failed sign-ins to the audit log, throttled per user, because guesses would fill it. Unknown logins
 * are not written: people type passwords there. Not awaited: the response time would reveal which logins
 * exist.
 */
function createNoteRefused({ pool, clock, log }: Pick<SignInOptions, 'pool' | 'clock' | 'log'>): NoteRefused {
  return ({ personId, login, address }, how) => {
    const person = { personId, login, address }
    const entry = {
      action: 'person.sign_in_refused',
      subject: person.personId,
      projectId: null,
      detail: { how },
    }
    writeView(pool, { kind: 'person', person }, entry, clock.now()).catch((error: unknown) =>
      log.error({ err: error, person: person.personId }, 'a refused sign-in is missing in the audit log'),
    )
  }
}

/** Undefined when the credentials are no longer valid. */
async function signIn(
  { pool, limits, clock }: Pick<SignInOptions, 'pool' | 'limits' | 'clock'>,
  { login, ...shown }: Shown & { login: string },
  from: { address: string | null; userAgent: string | null },
  how: How,
): Promise<Reply | undefined> {
  const nowMs = clock.now()
  const { personId } = shown
  const begun = await inTransaction(pool, async (client) => {
    const begun = await beginLogin(client, shown, from, limits, nowMs)
    if (begun === undefined) return undefined
    await writeAudit(
      client,
      { kind: 'person', person: { personId, login, address: from.address } },
      { action: 'person.signed_in', subject: personId, projectId: null, detail: { how } },
      nowMs,
    )
    return begun
  })
  return begun && { status: 201, json: { token: begun.token, person_id: personId, ends_at: begun.endsAt } }
}

import { isIP } from 'node:net'
import type { IncomingHttpHeaders } from 'node:http'
import { codeOfError } from '#capture/error-code.ts'
import type { Authenticate } from '#http/access/authenticate.ts'
import { roles, type Principal, type SignedIn } from '#http/access/principal.ts'
import { Problem } from '#http/problem.ts'
import type { LoginStore } from '../stores/login-store.ts'
import { routeRoles } from './route-roles.ts'

/** What the dashboard sends beside INTERNAL_API_SECRET: the token of whom it speaks for, and where they are. */
const tokenHeader = 'x-sluice-login'
const addressHeader = 'x-sluice-client-address'

/** Who asks, people included: 401 once their login has ended anywhere, 403 when their role is not enough for the route. */
export function createAuthenticatePeople(authenticate: Authenticate, logins: LoginStore): Authenticate {
  return async (headers, level, routeName) => {
    const token = headers[tokenHeader]
    if (typeof token !== 'string' || level === 'public') return authenticate(headers, level, routeName)
    // A token alone is worth nothing: only whoever has the secret may speak for people.
    await authenticate(headers, 'operator', routeName)
    const found = await logins.find(token)
    if (found === undefined) throw new Problem(401, 'LOGIN_ENDED', 'you are signed out: sign in again')
    const person = { ...found, address: addressOf(headers) }
    refuseUnlessAllowed(person, routeName)
    return { kind: 'person', person }
  }
}

/** As the dashboard saw it; null for what is no address. */
function addressOf(headers: IncomingHttpHeaders): string | null {
  const given = headers[addressHeader]
  return typeof given === 'string' && isIP(given) !== 0 ? given : null
}

function refuseUnlessAllowed({ role }: SignedIn, routeName: string | undefined): void {
  const least = routeName === undefined ? undefined : routeRoles[routeName]
  if (least !== undefined && roles.indexOf(role) >= roles.indexOf(least)) return
  const needed = least === undefined ? 'no person may do this' : `this needs the role ${least}`
  throw new Problem(403, 'ROLE_FORBIDS', `${needed}; yours is ${role}`)
}

/** Whether whoever asks may see what was said: bodies, and rationales, evidence and reviewers' reasons that quote them. */
export function mayReadContent(principal: Principal): boolean {
  return principal.kind !== 'person' || principal.person.role !== 'viewer'
}

/** Calls as whoever asks may see them: errors of providers and tools quote what was said. */
export function callsShownTo<T extends { error: unknown }>(principal: Principal, calls: readonly T[]): T[] {
  if (mayReadContent(principal)) return [...calls]
  return calls.map((call) => ({
    ...call,
    error: typeof call.error === 'string' ? codeOfError(call.error) : null,
  }))
}

/** Whether whoever asks may do what the operator may. */
export function isOperator(principal: Principal): boolean {
  return principal.kind === 'operator' || (principal.kind === 'person' && principal.person.role === 'admin')
}

/** Who is signed in. Throws 403 when it is no person who asks. */
export function personOf(principal: Principal): SignedIn {
  if (principal.kind === 'person') return principal.person
  throw new Problem(403, 'PERSON_ONLY', 'this is for people who are signed in to the dashboard')
}

import { isIP } from 'node:net'
import type { IncomingHttpHeaders } from 'node:http'
import { codeOfError } from '#capture/error-code.ts'
import type { Authenticate } from '#http/access/authenticate.ts'
import { roles, type Principal, type SignedIn } from '#http/access/principal.ts'
import { Problem } from '#http/problem.ts'
import type { LoginStore } from '../stores/login-store.ts'
import { routeRoles } from './route-roles.ts'

/**
 * Sent by the dashboard besides INTERNAL_API_SECRET: the token of the user's login, and the user's address.
 */
const tokenHeader = 'x-sluice-login'
const addressHeader = 'x-sluice-client-address'

/**
 * Identifies users too. Throws 401 after their login has ended, 403 when their role may not call the route.
 */
export function createAuthenticatePeople(authenticate: Authenticate, logins: LoginStore): Authenticate {
  return async (headers, level, routeName) => {
    const token = headers[tokenHeader]
    if (typeof token !== 'string' || level === 'public') return authenticate(headers, level, routeName)
    // A token alone has no rights: only the holder of the secret may act for users.
    await authenticate(headers, 'operator', routeName)
    const found = await logins.find(token)
    if (found === undefined) throw new Problem(401, 'LOGIN_ENDED', 'you are signed out: sign in again')
    const person = { ...found, address: addressOf(headers) }
    refuseUnlessAllowed(person, routeName)
    return { kind: 'person', person }
  }
}

/** As the dashboard saw it; null unless it is an address. */
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

/** Whether the caller may see content: bodies, and the rationales, evidence and reasons that quote them. */
export function mayReadContent(principal: Principal): boolean {
  return principal.kind !== 'person' || principal.person.role !== 'viewer'
}

/** The calls as this caller may see them: errors of providers and tools quote content. */
export function callsShownTo<T extends { error: unknown }>(principal: Principal, calls: readonly T[]): T[] {
  if (mayReadContent(principal)) return [...calls]
  return calls.map((call) => ({
    ...call,
    error: typeof call.error === 'string' ? codeOfError(call.error) : null,
  }))
}

/** Whether the caller has the operator's rights. */
export function isOperator(principal: Principal): boolean {
  return principal.kind === 'operator' || (principal.kind === 'person' && principal.person.role === 'admin')
}

/** The signed-in user. Throws 403 for any other caller. */
export function personOf(principal: Principal): SignedIn {
  if (principal.kind === 'person') return principal.person
  throw new Problem(403, 'PERSON_ONLY', 'this is for people who are signed in to the dashboard')
}

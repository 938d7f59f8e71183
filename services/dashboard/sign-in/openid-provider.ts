import * as openid from 'openid-client'
import { z } from 'zod'
import { codeOf } from '#runtime/errors.ts'
import { Problem } from '#http/problem.ts'

export type Role = 'viewer' | 'analyst' | 'admin'
const ranks: readonly Role[] = ['viewer', 'analyst', 'admin']

export interface OpenidOptions {
  issuer: string
  clientId: string
  clientSecret: string | undefined
  scopes: string
  loginClaim: string
  groupsClaim: string
  /** By group. */
  roles: ReadonlyMap<string, Role>
  /** For people in none of the groups; undefined: they may not sign in. */
  defaultRole: Role | undefined
  callbackUrl: string
}

/** What the browser keeps while at the provider. It ties the answer to our request. */
export const transactionSchema = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  returnTo: z.string(),
})
export type Transaction = z.output<typeof transactionSchema>

/** As the API takes them. */
export interface VerifiedIdentity {
  issuer: string
  subject: string
  login: string
  login_is_verified: boolean
  name: string
  role: Role
}

export interface OpenidProvider {
  /** The provider's URL, and what the browser keeps meanwhile. */
  begin(returnTo: string): Promise<{ url: string; transaction: Transaction }>
  /** The person vouched for in the provider's callback URL. Throws Problem. */
  finish(cameBackTo: URL, transaction: Transaction): Promise<VerifiedIdentity>
}

/** Metadata is rediscovered after this time; keys are fetched as needed. */
const rediscoverMs = 3_600_000

/** Authorization code flow with PKCE, state and nonce. */
export function createOpenidProvider(options: OpenidOptions): OpenidProvider {
  const discover = createDiscovery(options)
  return {
    async begin(returnTo) {
      const configuration = await discover()
      const verifier = openid.randomPKCECodeVerifier()
      const transaction = { state: openid.randomState(), nonce: openid.randomNonce(), verifier, returnTo }
      const url = openid.buildAuthorizationUrl(configuration, {
        redirect_uri: options.callbackUrl,
        scope: options.scopes,
        state: transaction.state,
        nonce: transaction.nonce,
        code_challenge: await openid.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      })
      return { url: url.href, transaction }
    },
    async finish(cameBackTo, { state, nonce, verifier }) {
      const configuration = await discover()
      const checks = {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      }
      const claims = await orFailed(() => readClaims(configuration, cameBackTo, checks))
      return vouchedFor(claims, options)
    },
  }
}

function createDiscovery({ issuer, clientId, clientSecret }: OpenidOptions) {
  let found: { at: number; configuration: openid.Configuration } | undefined
  const server = new URL(issuer)
  // Deprecated only as a warning: the schema allows http for a local provider only, as tests have one.
  // oxlint-disable-next-line typescript/no-deprecated
  const execute = server.protocol === 'http:' ? [openid.allowInsecureRequests] : []
  return async (): Promise<openid.Configuration> => {
    if (found !== undefined && performance.now() - found.at < rediscoverMs) return found.configuration
    try {
      const shown = authentication(clientSecret)
      const configuration = await openid.discovery(server, clientId, undefined, shown, { execute })
      found = { at: performance.now(), configuration }
      return configuration
    } catch (error) {
      throw unavailable(error)
    }
  }
}

/** The client authentication method. Default: basic (OpenID Connect Discovery 1.0, 3). */
function authentication(secret: string | undefined): openid.ClientAuth {
  if (secret === undefined) return openid.None()
  const [post, basic] = [openid.ClientSecretPost(secret), openid.ClientSecretBasic(secret)]
  return (server, ...rest) => {
    const takesPost = server.token_endpoint_auth_methods_supported?.includes('client_secret_post') === true
    const show = takesPost ? post : basic
    show(server, ...rest)
  }
}

type Claims = Readonly<Record<string, unknown>> & { iss: string; sub: string }

/** Claims of the ID token and of the userinfo endpoint. */
async function readClaims(
  configuration: openid.Configuration,
  cameBackTo: URL,
  checks: openid.AuthorizationCodeGrantChecks,
): Promise<Claims> {
  const tokens = await openid.authorizationCodeGrant(configuration, cameBackTo, checks)
  const idToken = tokens.claims()
  if (idToken === undefined) throw new Error('there is no ID token')
  if (configuration.serverMetadata().userinfo_endpoint === undefined) return idToken
  const told = await openid.fetchUserInfo(configuration, tokens.access_token, idToken.sub)
  return { ...told, ...idToken }
}

async function orFailed<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (isUnavailable(error)) throw unavailable(error)
    throw new Problem(403, 'OIDC_REFUSED', 'the OpenID provider did not sign you in', {
      cause: withErrorFields(error),
    })
  }
}

function unavailable(error: unknown): Problem {
  return new Problem(503, 'OIDC_UNAVAILABLE', 'the OpenID provider does not answer', {
    cause: withErrorFields(error),
  })
}

/** The provider or a proxy is down, as opposed to refusing somebody. */
function isUnavailable(error: unknown): boolean {
  const status = statusOf(error)
  if (status !== undefined) return status >= 500
  if (!Error.isError(error)) return false
  const isSilent = error.message === 'fetch failed' || codeOf(error) === 'OAUTH_TIMEOUT'
  return isSilent || isUnavailable(error.cause)
}

/** Fields of an error answer, which logs omit: `invalid_client` for a wrong secret. */
function withErrorFields(error: unknown): unknown {
  const status = statusOf(error)
  if (status === undefined) return error
  const said =
    error instanceof openid.ResponseBodyError
      ? `: ${error.error} ${error.error_description ?? ''}`.trimEnd()
      : ''
  return new Error(`the provider answers ${status}${said}`, { cause: error })
}

/** The status of the answer behind an error. */
function statusOf(error: unknown): number | undefined {
  if (error instanceof openid.ResponseBodyError) return error.status
  const { cause } = error as { cause?: unknown }
  return cause instanceof Response ? cause.status : undefined
}

function vouchedFor(claims: Claims, options: OpenidOptions): VerifiedIdentity {
  const login = textOf(claims[options.loginClaim])
  if (login === undefined) {
    throw new Problem(403, 'OIDC_CLAIM_MISSING', `the OpenID provider did not say your ${options.loginClaim}`)
  }
  const role = roleOf(claims[options.groupsClaim], options)
  if (role === undefined) {
    throw new Problem(403, 'OIDC_NO_ROLE', 'none of your groups may use this: ask an administrator')
  }
  return {
    issuer: claims.iss,
    subject: claims.sub,
    login,
    login_is_verified: options.loginClaim === 'email' && claims['email_verified'] === true,
    // toWellFormed: the slice may split a surrogate pair.
    name: (textOf(claims['name']) ?? login).slice(0, 200).toWellFormed(),
    role,
  }
}

/** The most privileged role of their groups. */
function roleOf(groups: unknown, { roles, defaultRole }: OpenidOptions): Role | undefined {
  const names = Array.isArray(groups) ? groups.map(String) : typeof groups === 'string' ? [groups] : []
  const given = names.map((name) => roles.get(name))
  return ranks.findLast((role) => given.includes(role)) ?? defaultRole
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}

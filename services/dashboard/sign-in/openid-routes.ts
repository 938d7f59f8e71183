import express, { type CookieOptions, type Request, type Response, type Router } from 'express'
import type { Log } from '#runtime/log.ts'
import type { ApiBackend } from '../forwarding/api-backend.ts'
import { Problem } from '#http/problem.ts'
import type { LoginCookie } from './login-cookie.ts'
import { transactionSchema, type OpenidProvider, type Transaction } from './openid-provider.ts'
import { browserOf, endLogin, type Begun } from './sign-in-routes.ts'

export const openidPaths = { start: '/bff/oidc/start', callback: '/bff/oidc/callback' } as const

interface OpenidRoutesOptions {
  provider: OpenidProvider
  api: ApiBackend
  cookie: LoginCookie
  /** DASHBOARD_URL, without a trailing slash. */
  dashboardUrl: string
  log: Log
}

/** Time limit for signing in at the provider. */
const transactionMs = 10 * 60_000

/**
 * Single sign-on. The provider sends browsers here from another site, so these routes precede the cross-site
 * guard.
 */
export function createOpenidRoutes({
  provider,
  api,
  cookie,
  dashboardUrl,
  log,
}: OpenidRoutesOptions): Router {
  const router = express.Router()
  const isHttps = dashboardUrl.startsWith('https:')
  const name = isHttps ? '__Host-sluice-oidc' : 'sluice-oidc'
  // Lax: sent along when the provider redirects back.
  const kept: CookieOptions = { httpOnly: true, sameSite: 'lax', secure: isHttps, path: '/' }
  const orBack =
    (work: (request: Request, response: Response) => Promise<void>) =>
    async (request: Request, response: Response) => {
      try {
        await work(request, response)
      } catch (error) {
        if (!(error instanceof Problem)) throw error
        log.warn({ err: error }, 'single sign-on failed')
        response.redirect(303, `/?sign_in_error=${error.code}`)
      }
    }

  router.get(
    openidPaths.start,
    cookie.parse,
    orBack(async (request, response) => {
      const { url, transaction } = await provider.begin(ownPath(request.query['return_to'], dashboardUrl))
      response.cookie(name, JSON.stringify(transaction), { ...kept, signed: true, maxAge: transactionMs })
      response.redirect(303, url)
    }),
  )

  router.get(
    openidPaths.callback,
    cookie.parse,
    orBack(async (request, response) => {
      const transaction = readTransaction(request.signedCookies[name])
      // Single use.
      response.clearCookie(name, kept)
      const vouched = await provider.finish(new URL(request.originalUrl, dashboardUrl), transaction)
      const begun = await api.call<Begun>(
        'POST',
        '/internal/people/sign-in-by-provider',
        { address: undefined },
        {
          ...vouched,
          ...browserOf(request),
        },
      )
      await endLogin(api, cookie, request)
      cookie.write(response, begun.token, begun.ends_at)
      response.redirect(303, transaction.returnTo)
    }),
  )
  return router
}

function readTransaction(cookie: unknown): Transaction {
  const parsed = typeof cookie === 'string' ? transactionSchema.safeParse(jsonOf(cookie)) : undefined
  if (parsed?.success === true) return parsed.data
  throw new Problem(403, 'OIDC_NOT_BEGUN', 'single sign-on was not begun here, or took over ten minutes')
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Signed by us but not JSON: an older version's. Treated as none.
    return undefined
  }
}

/** A return path on this dashboard only; `/` otherwise. */
function ownPath(given: unknown, dashboardUrl: string): string {
  if (typeof given !== 'string' || !given.startsWith('/') || !URL.canParse(given, dashboardUrl)) return '/'
  const { origin, pathname, search } = new URL(given, dashboardUrl)
  // `//elsewhere` and `/\elsewhere` resolve to another origin; a browser could also read a resolved `//…`
  // path so.
  return origin === new URL(dashboardUrl).origin && !pathname.startsWith('//') ? pathname + search : '/'
}

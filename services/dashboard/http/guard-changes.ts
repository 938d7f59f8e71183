import type { NextFunction, Request, RequestHandler, Response } from 'express'
import { Problem } from '#http/problem.ts'

/**
 * Sent by our client with each request. Another site's page needs a CORS preflight for it, which is never
 * granted.
 */
const ownHeader = 'x-sluice-dashboard'
const harmless = new Set(['GET', 'HEAD'])

/** Blocks cross-site requests: changes need our client's header, and a foreign origin is refused. */
export function createGuardChanges(dashboardUrl: string): RequestHandler {
  const publicOrigin = new URL(dashboardUrl).origin
  return (request: Request, _response: Response, next: NextFunction) => {
    if (!harmless.has(request.method) && request.headers[ownHeader] === undefined) {
      throw refused(`send the header ${ownHeader}`)
    }
    const { origin } = request.headers
    // The configured origin, or the one that this request came to; pages can choose neither.
    if (origin !== undefined && origin !== publicOrigin && hostOf(origin) !== request.headers.host) {
      throw refused('this came from another site; DASHBOARD_URL says which is ours')
    }
    const site = request.headers['sec-fetch-site']
    if (origin === undefined && (site === 'cross-site' || site === 'same-site'))
      throw refused('this came from another site')
    next()
  }
}

function refused(why: string): Problem {
  return new Problem(403, 'CROSS_SITE_REFUSED', why)
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined
}

import type { NextFunction, Request, RequestHandler, Response } from 'express'
import { Problem } from '#http/problem.ts'

/** Sent by our client with each request. Another site's page cannot send it without being asked about (CORS), which nobody here grants. */
const ownHeader = 'x-sluice-dashboard'
const harmless = new Set(['GET', 'HEAD'])

/** Refuses what another site's page makes a browser send: changes need our client's header, and nothing comes from another origin. */
export function createGuardChanges(dashboardUrl: string): RequestHandler {
  const publicOrigin = new URL(dashboardUrl).origin
  return (request: Request, _response: Response, next: NextFunction) => {
    if (!harmless.has(request.method) && request.headers[ownHeader] === undefined) {
      throw refused(`send the header ${ownHeader}`)
    }
    const { origin } = request.headers
    // By the address that people were given, or the one that this request came to: a browser lets no page choose either.
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

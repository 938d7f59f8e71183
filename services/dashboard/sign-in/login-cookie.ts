import { createHmac } from 'node:crypto'
import cookieParser from 'cookie-parser'
import type { CookieOptions, Request, RequestHandler, Response } from 'express'

export interface LoginCookie {
  /** Parses and verifies signed cookies; must precede all readers. */
  parse: RequestHandler
  /** The signed-in person's token. Undefined: none, or a cookie that is not ours. */
  read(request: Request): string | undefined
  write(response: Response, token: string, endsAt: string): void
  clear(response: Response): void
}

/** The cookie with a login's token: signed, HttpOnly, SameSite. */
export function createLoginCookie(options: { internalSecret: string; isHttps: boolean }): LoginCookie {
  const { isHttps } = options
  // Derived from the secret shared by an API's dashboards, so that each accepts the others' cookies.
  const secret = createHmac('sha256', options.internalSecret)
    .update('sluice dashboard cookies')
    .digest('base64url')
  // Browsers refuse this prefix from subdomains and over http.
  const name = isHttps ? '__Host-sluice' : 'sluice'
  const fixed: CookieOptions = {
    httpOnly: true,
    sameSite: 'strict',
    secure: isHttps,
    path: '/',
  }
  return {
    parse: cookieParser(secret),
    read(request) {
      const token: unknown = request.signedCookies[name]
      return typeof token === 'string' && token !== '' ? token : undefined
    },
    write: (response, token, endsAt) => {
      response.cookie(name, token, { ...fixed, signed: true, expires: new Date(endsAt) })
    },
    clear: (response) => {
      response.clearCookie(name, fixed)
    },
  }
}

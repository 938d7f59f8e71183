import { createHmac } from 'node:crypto'
import cookieParser from 'cookie-parser'
import type { CookieOptions, Request, RequestHandler, Response } from 'express'

export interface LoginCookie {
  /** Reads and checks signed cookies; goes before everything that asks for one. */
  parse: RequestHandler
  /** The token of whoever is signed in; undefined: nobody, or a cookie that is not ours. */
  read(request: Request): string | undefined
  write(response: Response, token: string, endsAt: string): void
  clear(response: Response): void
}

/** The cookie that holds the token of a login: signed, for no script to read, for no other site to send. */
export function createLoginCookie(options: { internalSecret: string; isHttps: boolean }): LoginCookie {
  const { isHttps } = options
  // Of the secret that all dashboards of an API share, so that one knows the cookies of another.
  const secret = createHmac('sha256', options.internalSecret)
    .update('sluice dashboard cookies')
    .digest('base64url')
  // The prefix makes browsers refuse it from subdomains and over http.
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

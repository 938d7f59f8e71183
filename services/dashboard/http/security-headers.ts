import { randomBytes } from 'node:crypto'
import type { NextFunction, Request, RequestHandler, Response } from 'express'
import helmet from 'helmet'

export const reportsPath = '/bff/csp-reports'

/** The nonce of this answer: the one way for a style element to count. */
export function nonceOf(response: Response): string {
  return String(response.locals['nonce'])
}

/**
 * What the browser may do with our pages: scripts and styles from here alone, nothing inline but the component library's style
 * elements, which carry the answer's nonce (docs/decisions/0051-what-the-browser-is-trusted-with.md).
 */
export function createSecurityHeaders(options: { isHttps: boolean }): RequestHandler[] {
  const giveNonce = (_request: Request, response: Response, next: NextFunction) => {
    response.locals['nonce'] = randomBytes(16).toString('base64')
    response.set('reporting-endpoints', `csp="${reportsPath}"`)
    response.set('permissions-policy', 'camera=(), geolocation=(), microphone=(), payment=(), usb=()')
    next()
  }
  const protect = helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'"],
        styleSrc: ["'self'", (_request, response) => `'nonce-${nonceOf(response as Response)}'`],
        imgSrc: ["'self'", 'data:'],
        fontSrc: ["'self'"],
        connectSrc: ["'self'"],
        manifestSrc: ["'self'"],
        formAction: ["'self'"],
        baseUri: ["'none'"],
        frameAncestors: ["'none'"],
        reportUri: [reportsPath],
        reportTo: ['csp'],
      },
    },
    crossOriginEmbedderPolicy: true,
    referrerPolicy: { policy: 'no-referrer' },
    strictTransportSecurity: options.isHttps ? { maxAge: 31_536_000, includeSubDomains: false } : false,
    xFrameOptions: { action: 'deny' },
  })
  return [giveNonce, protect]
}

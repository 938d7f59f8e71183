import { randomBytes } from 'node:crypto'
import type { NextFunction, Request, RequestHandler, Response } from 'express'
import helmet from 'helmet'

export const reportsPath = '/bff/csp-reports'

/** This page's nonce, required for style elements. */
export function nonceOf(response: Response): string {
  return String(response.locals['nonce'])
}

/**
 * The content security policy: scripts and styles from here only, inline only the component library's style
 * elements with the nonce (docs/decisions/0051-what-the-browser-is-trusted-with.md).
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

import express, { type Express, type Request, type Response, type Router } from 'express'
import { createAnswerError } from '#http/answer-error.ts'
import { Problem } from '#http/problem.ts'
import type { Log } from '#runtime/log.ts'
import type { Metrics } from '#runtime/metrics.ts'
import { healthStatus, type Health } from '#runtime/service.ts'
import type { LoginCookie } from '../sign-in/login-cookie.ts'
import { createCspReports } from './csp-reports.ts'
import { createGuardChanges } from './guard-changes.ts'
import { measureAnswers } from './measure-answers.ts'
import { createSecurityHeaders } from './security-headers.ts'
import { createServeClient } from './serve-client.ts'

interface AppOptions {
  dashboardUrl: string
  clientDirectory: string
  trustedProxies: readonly string[]
  cookie: LoginCookie
  /** Single sign-on, if configured. */
  openid: Router | undefined
  /** Routers under `/bff`, in this order. */
  routers: readonly Router[]
  health: () => Health
  log: Log
  metrics: Metrics
}

/** The express application: headers, client address, `/bff`, and the client's files for everything else. */
export function createApp(options: AppOptions): Express {
  const { dashboardUrl, cookie, routers, health, log, metrics } = options
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.set('trust proxy', [...options.trustedProxies])
  app.use(measureAnswers(metrics))
  app.use(...createSecurityHeaders({ isHttps: dashboardUrl.startsWith('https:') }))
  app.get(['/healthz', '/readyz'], (request, response) => {
    const now = health()
    response.status(healthStatus(request.path, now)).json(now)
  })
  app.use(createCspReports({ log, metrics }))
  app.use('/bff', noStore)
  if (options.openid !== undefined) app.use(options.openid)
  app.use('/bff', createGuardChanges(dashboardUrl), cookie.parse)
  for (const router of routers) app.use(router)
  app.use('/bff', () => {
    throw new Problem(404, 'ROUTE_NOT_FOUND', 'there is nothing here')
  })
  app.use(createServeClient(options.clientDirectory))
  app.use(() => {
    throw new Problem(404, 'ROUTE_NOT_FOUND', 'there is nothing here')
  })
  app.use(createAnswerError(log))
  return app
}

function noStore(_request: Request, response: Response, next: () => void): void {
  response.set('cache-control', 'no-store')
  next()
}

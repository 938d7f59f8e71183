import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Router } from 'express'
import type { Log } from '#runtime/log.ts'
import { keepAliveTimeoutMs, listen } from '#runtime/operations-server.ts'
import type { ProcessDependencies } from '#runtime/run-process.ts'
import type { Health, Service } from '#runtime/service.ts'
import { stopListening } from '#runtime/stop-listening.ts'
import type { DashboardConfig } from './config.ts'
import { createApiBackend, type ApiBackend } from './forwarding/api-backend.ts'
import { createForward } from './forwarding/forward-request.ts'
import { createApp } from './http/create-app.ts'
import { makeAdministrator } from './make-administrator.ts'
import { createLoginCookie, type LoginCookie } from './sign-in/login-cookie.ts'
import { createOpenidProvider } from './sign-in/openid-provider.ts'
import { createOpenidRoutes, openidPaths } from './sign-in/openid-routes.ts'
import { createSignInRoutes } from './sign-in/sign-in-routes.ts'

interface DashboardDependencies extends ProcessDependencies {
  /** Prints to standard output. */
  print: (text: string) => void
}

interface DashboardService extends Service {
  /** The listening port; 0 before. */
  port: () => number
}

/** The server for people's browsers: client files, sign-in, and the API on behalf of the signed-in person. */
export function createDashboard(
  config: DashboardConfig,
  dependencies: DashboardDependencies,
): DashboardService {
  const { log, metrics } = dependencies
  const api = createApiBackend({ url: config.API_BACKEND_URL, secret: config.INTERNAL_API_SECRET })
  const isHttps = config.DASHBOARD_URL.startsWith('https:')
  const cookie = createLoginCookie({ internalSecret: config.INTERNAL_API_SECRET, isHttps })
  const oidcLabel = config.OIDC_ISSUER === undefined ? undefined : config.OIDC_LABEL
  let state: 'starting' | 'serving' | 'stopping' = 'starting'
  let hasAdministrator = false
  const health = (): Health => {
    if (state !== 'serving') return { status: state }
    return hasAdministrator
      ? { status: 'ok' }
      : { status: 'degraded', problems: { api: 'does not answer yet' } }
  }
  const app = createApp({
    dashboardUrl: config.DASHBOARD_URL,
    clientDirectory: config.DASHBOARD_CLIENT_DIR ?? join(import.meta.dirname, 'dist'),
    trustedProxies: config.TRUSTED_PROXIES,
    cookie,
    openid: openidRoutes(config, { api, cookie, log }),
    routers: [
      createSignInRoutes({ api, cookie, oidcLabel, gatewayUrl: config.GATEWAY_URL }),
      createForward({ api, cookie }),
    ],
    health,
    log,
    metrics,
  })
  const server = createServer({ keepAliveTimeout: keepAliveTimeoutMs }, app)
  const done = Promise.withResolvers<undefined>()
  const ending = new AbortController()
  const port = () => (server.address() as AddressInfo | null)?.port ?? 0
  const prepare = async () => {
    await makeAdministrator(administratorOptions(config, dependencies, api), ending.signal)
    hasAdministrator = true
  }
  const stopAll = async () => {
    state = 'stopping'
    ending.abort()
    await stopListening(server, config.DRAIN_LEAD_MS)
    await api.close()
    done.resolve(undefined)
  }
  let stopped: Promise<void> | undefined
  return {
    async start() {
      await listen(server, config.DASHBOARD_PORT, config.DASHBOARD_HOST)
      state = 'serving'
      log.info({ host: config.DASHBOARD_HOST, port: port() }, 'listening')
      prepare().catch((error: unknown) => done.reject(error))
    },
    stop: () => (stopped ??= stopAll()),
    health,
    done: done.promise,
    port,
  }
}

function openidRoutes(
  config: DashboardConfig,
  parts: { api: ApiBackend; cookie: LoginCookie; log: Log },
): Router | undefined {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId } = config
  if (issuer === undefined || clientId === undefined) return undefined
  const dashboardUrl = config.DASHBOARD_URL
  const provider = createOpenidProvider({
    issuer,
    clientId,
    clientSecret: config.OIDC_CLIENT_SECRET,
    scopes: config.OIDC_SCOPES,
    loginClaim: config.OIDC_LOGIN_CLAIM,
    groupsClaim: config.OIDC_GROUPS_CLAIM,
    roles: new Map(config.OIDC_GROUP_ROLES),
    defaultRole: config.OIDC_DEFAULT_ROLE,
    callbackUrl: dashboardUrl + openidPaths.callback,
  })
  return createOpenidRoutes({ ...parts, provider, dashboardUrl })
}

function administratorOptions(
  config: DashboardConfig,
  { log, clock, print }: DashboardDependencies,
  api: ApiBackend,
) {
  const { DASHBOARD_ADMIN_LOGIN: login, DASHBOARD_ADMIN_PASSWORD: password } = config
  return { api, login, password, print, log, clock }
}

import { systemClock } from '#runtime/clock.ts'
import { parseConfig } from '#runtime/config.ts'
import { createLog } from '#runtime/log.ts'
import { createMetrics, type Metrics } from '#runtime/metrics.ts'
import { dashboardConfigSchema } from '#services/dashboard/config.ts'
import { createDashboard } from '#services/dashboard/service.ts'
import { operatorSecret, type Answer } from './start-api.ts'
import { until } from './until.ts'

export const adminPassword = 'a password for tests'

/** The cookie jar and requests of a browser. */
export interface TestBrowser {
  send(
    method: string,
    path: string,
    options?: { body?: unknown; headers?: Record<string, string> },
  ): Promise<Answer>
  signIn(name: string, password: string): Promise<Answer>
  /** The Cookie header that the browser would send. */
  cookie(): string
}

export interface RunningDashboard {
  baseUrl: string
  metrics: Metrics
  /** Printed output. */
  printed: string[]
  browser(cookie?: string): TestBrowser
  stop(): Promise<void>
}

/**
 * The real dashboard in this process, in front of the API at `apiUrl`. Its administrator is `admin`, with
 * `adminPassword`.
 */
export async function startDashboard(
  apiUrl: string,
  environment: Record<string, string> = {},
  awaited: 'ok' | 'degraded' = 'ok',
): Promise<RunningDashboard> {
  const parsed = parseConfig(dashboardConfigSchema, {
    API_BACKEND_URL: apiUrl,
    INTERNAL_API_SECRET: operatorSecret,
    DASHBOARD_ADMIN_PASSWORD: adminPassword,
    DASHBOARD_HOST: '127.0.0.1',
    DASHBOARD_PORT: '0',
    DRAIN_LEAD_MS: '0',
    ...environment,
  })
  if (!parsed.ok) throw new Error(parsed.problems.join('; '))
  const printed: string[] = []
  const metrics = createMetrics()
  const dashboard = createDashboard(parsed.value, {
    log: createLog('dashboard-test', 'silent'),
    metrics,
    clock: systemClock,
    print: (text) => printed.push(text),
  })
  await dashboard.start()
  await until(() => dashboard.health().status === awaited)
  const baseUrl = `http://127.0.0.1:${dashboard.port()}`
  return {
    baseUrl,
    metrics,
    printed,
    browser: (cookie) => createTestBrowser(baseUrl, cookie),
    stop: () => dashboard.stop(),
  }
}

function createTestBrowser(baseUrl: string, given = ''): TestBrowser {
  const jar = new Map<string, string>()
  const keep = (pair: string) => {
    const at = pair.indexOf('=')
    const [name, value] = [pair.slice(0, at), pair.slice(at + 1)]
    if (value === '') jar.delete(name)
    else jar.set(name, value)
  }
  const cookie = () => [...jar].map((pair) => pair.join('=')).join('; ')
  if (given !== '') keep(given)
  const send: TestBrowser['send'] = async (method, path, { body, headers = {} } = {}) => {
    const response = await fetch(baseUrl + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(jar.size === 0 ? {} : { cookie: cookie() }),
        'x-sluice-dashboard': '1',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    for (const line of response.headers.getSetCookie()) keep(line.split(';', 1)[0] ?? '')
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.includes('json') === true
    const json = (isJson && text !== '' ? JSON.parse(text) : {}) as Record<string, unknown>
    return { status: response.status, headers: response.headers, json, text }
  }
  return {
    send,
    signIn: (name, password) => send('POST', '/bff/login', { body: { name, password } }),
    cookie,
  }
}

import { once } from 'node:events'
import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises'
import { createServer, get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { freePorts } from '#infra/embedded/free-port.ts'
import { createSealer } from '#runtime/sealing.ts'
import { seedRequest } from '#tests/support/seed-requests.ts'
import { startApi, type RunningApi } from '#tests/support/start-api.ts'
import {
  adminPassword,
  startDashboard,
  type RunningDashboard,
  type TestBrowser,
} from '#tests/support/start-dashboard.ts'

let api: RunningApi
let project: { projectId: string; key: string }
let client: string
let dashboard: RunningDashboard
let admin: TestBrowser

beforeAll(async () => {
  client = await mkdtemp(join(tmpdir(), 'sluice-client-'))
  await mkdir(join(client, 'assets'))
  await writeFile(join(client, 'index.html'), '<meta nonce="__CSP_NONCE__"><script nonce="__CSP_NONCE__">')
  await writeFile(join(client, 'assets', 'app-1a2b.js'), 'let plain')
  await writeFile(join(client, 'assets', 'app-1a2b.js.br'), 'packed')
  api = await startApi()
  project = await api.createProject()
  dashboard = await startDashboard(api.baseUrl, { DASHBOARD_CLIENT_DIR: client })
  admin = dashboard.browser()
  expect((await admin.signIn('admin', adminPassword)).status).toBe(200)
})
afterAll(async () => {
  await dashboard.stop()
  await api.stop()
  await rm(client, { recursive: true })
})

/** The raw answer to exactly this path: fetch would resolve dots and decompress. */
function getRaw(path: string, headers: Record<string, string> = {}): Promise<IncomingMessage> {
  const { hostname, port } = new URL(dashboard.baseUrl)
  return new Promise((resolve, reject) => {
    get({ hostname, port, path, headers }, (answer) => resolve(answer.resume())).on('error', reject)
  })
}

describe('the API', () => {
  test('answers anyone who is signed in through the dashboard, with its tags and streams, and nobody else', async () => {
    const id = await seedRequest(api.pool, createSealer([]), { projectId: project.projectId })
    const query = `project_id=${project.projectId}`
    const list = await admin.send('GET', `/bff/api/requests?${query}`)
    expect([list.json['total'], list.headers.get('cache-control')]).toEqual([1, 'private, no-cache'])
    const etag = String(list.headers.get('etag'))
    const again = await admin.send('GET', `/bff/api/requests?${query}`, {
      headers: { 'if-none-match': etag },
    })
    expect([again.status, again.text]).toEqual([304, ''])
    const exported = await admin.send('GET', `/bff/api/requests/export?${query}`)
    expect(exported.headers.get('content-type')).toContain('text/csv')
    expect(exported.text).toContain(id)
    const nobody = await dashboard.browser().send('GET', '/bff/api/requests')
    expect([nobody.status, nobody.json['code']]).toEqual([401, 'LOGIN_MISSING'])
  })

  test('is reached at /api/ alone, by methods that it has, with bodies of a size', async () => {
    for (const path of [
      '/bff/api/../internal/people/first',
      '/bff/api/%2e%2e/internal/people/first',
      '/bff/api/..%5cinternal/people/first',
      '/bff/api/..%2finternal/people/first',
      '/bff/api/x%5C%2E.%5cinternal/people/first',
      '/bff/api/x/.%2e\\internal/people/first',
      '/bff/api/sessions/..%5C',
      '/bff/internal/people/first',
    ]) {
      const answer = await getRaw(path, { cookie: admin.cookie() })
      expect([path, answer.statusCode]).toEqual([path, 404])
    }
    for (const session of ['CORP\\alice-1', 'a/b', '..c', '\\']) {
      await seedRequest(api.pool, createSealer([]), { projectId: project.projectId, sessionId: session })
      const path = `/bff/api/sessions/${encodeURIComponent(session)}?project_id=${project.projectId}`
      const answer = await admin.send('GET', path)
      expect([answer.status, answer.json['session_id']]).toEqual([200, session])
    }
    const put = await admin.send('PUT', '/bff/api/people')
    expect([put.status, put.headers.get('allow')]).toEqual([405, 'GET, POST, PATCH, DELETE'])
    const large = await admin.send('POST', '/bff/api/people', { body: { name: 'x'.repeat(300_000) } })
    expect([large.status, large.json['code']]).toEqual([413, 'BODY_TOO_LARGE'])
    const log = await admin.send('POST', '/bff/api/v1/webhooks', {
      headers: { 'x-service-key': project.key },
    })
    expect(log.status).toBe(422)
  })

  test('that is away is said to be, while pages are served', async () => {
    const [port = 0] = await freePorts(1)
    const away = await startDashboard(
      `http://127.0.0.1:${port}`,
      { DASHBOARD_CLIENT_DIR: client },
      'degraded',
    )
    try {
      const answer = await away.browser(admin.cookie()).send('GET', '/bff/me')
      expect([answer.status, answer.json['code']]).toEqual([503, 'API_UNAVAILABLE'])
      expect((await away.browser().send('GET', '/')).status).toBe(200)
    } finally {
      await away.stop()
    }
  })

  test.each([
    [502, '<html>bad gateway</html>'],
    [404, '{"message":"no such route"}'],
    [200, '<html>soon</html>'],
  ])('whose proxy answers %i in its place is away', async (status, body) => {
    const proxy = createServer((_request, response) => void response.writeHead(status).end(body))
    await once(proxy.listen(0, '127.0.0.1'), 'listening')
    const { port } = proxy.address() as AddressInfo
    const behind = await startDashboard(`http://127.0.0.1:${port}`, {}, 'degraded')
    try {
      const answer = await behind.browser(admin.cookie()).send('GET', '/bff/me')
      expect([answer.status, answer.json['code']]).toEqual([503, 'API_UNAVAILABLE'])
    } finally {
      await behind.stop()
      proxy.close()
    }
  })
})

describe('pages', () => {
  test('run scripts and styles of ours alone; each has a nonce of its own', async () => {
    const [one, two] = [await admin.send('GET', '/requests/req_1?x=1'), await admin.send('GET', '/')]
    const policy = String(one.headers.get('content-security-policy'))
    const nonce = /style-src 'self' 'nonce-([^']+)'/.exec(policy)?.[1]
    expect(one.text).toBe(`<meta nonce="${nonce}"><script nonce="${nonce}">`)
    expect(two.text).not.toBe(one.text)
    expect(policy).not.toContain('unsafe')
    for (const directive of [
      "default-src 'none'",
      "script-src 'self';",
      "frame-ancestors 'none'",
      "base-uri 'none'",
    ]) {
      expect(policy).toContain(directive)
    }
    expect(one.headers.get('cache-control')).toBe('no-store')
  })

  test('have files that are kept for ever, compressed for anyone who takes it, and none but those that were built', async () => {
    const path = '/assets/app-1a2b.js'
    const plain = await admin.send('GET', path, { headers: { 'accept-encoding': 'gzip' } })
    expect([plain.text, plain.headers.get('cache-control')]).toEqual([
      'let plain',
      'public, max-age=31536000, immutable',
    ])
    const packed = await getRaw(path, { 'accept-encoding': 'gzip, br' })
    expect(packed.headers).toMatchObject({
      'content-encoding': 'br',
      'content-type': 'text/javascript; charset=utf-8',
      vary: 'accept-encoding',
    })
    for (const missing of ['/assets/app-0000.js', '/assets/..%2f..%2fpackage.json', '/assets/']) {
      expect([missing, (await getRaw(missing)).statusCode]).toEqual([missing, 404])
    }
  })

  test('report what the policy refused, which is counted by kinds that we know', async () => {
    const report = (body: unknown, type: string) =>
      fetch(`${dashboard.baseUrl}/bff/csp-reports`, {
        method: 'POST',
        headers: { 'content-type': type },
        body: JSON.stringify(body),
      })
    const old = { 'csp-report': { 'effective-directive': 'script-src-elem', 'blocked-uri': 'inline' } }
    const now = [
      { type: 'csp-violation', body: { effectiveDirective: 'made-up', blockedURL: 'https://evil.example/' } },
    ]
    expect((await report(old, 'application/csp-report')).status).toBe(204)
    expect((await report(now, 'application/reports+json')).status).toBe(204)
    const counted = await dashboard.metrics.registry.getSingleMetricAsString(
      'sluice_dashboard_csp_reports_total',
    )
    expect(counted).toContain('{kind="script-src"} 1\n')
    expect(counted).toContain('{kind="other"} 1')
    expect(counted).not.toContain('made-up')
  })
})

import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Page, Route } from 'playwright-core'
import { createSealer } from '#runtime/sealing.ts'
import { idToUuid } from '#schemas/ids.ts'
import { many, sampleCall } from '#services/sink/testing/sample-records.ts'
import { seriousFindings, startDashboardSite, type DashboardSite } from '#tests/support/dashboard-site.ts'
import { seedRequest } from '#tests/support/seed-requests.ts'
import { createCallStorage } from '#tests/support/store-calls.ts'

let site: DashboardSite
let page: Page
/** Of one user's two sessions. */
let ids: string[]

beforeAll(async () => {
  site = await startDashboardSite()
  page = (await site.signIn()).page
  const seed = (sessionId: string) =>
    seedRequest(site.api.pool, createSealer([]), {
      projectId: site.projectId,
      sessionId,
      agentName: 'booking-agent',
      scores: [{ scorer: 'pii_detection', value: 1, label: 'safe' }],
    })
  ids = [await seed('monday'), await seed('tuesday')]
  await site.api.pool.query(
    `update llm_requests set user_id = 'u-17', agent_tag = 'v2', aborted_by = 'client' where id = any ($1::uuid[])`,
    [ids.map(idToUuid)],
  )
}, 600_000)
afterAll(() => site.stop())

const open = (path: string) => page.goto(`${path}${path.includes('?') ? '&' : '?'}project=${site.projectId}`)
const rowOf = (id: string | undefined) => page.locator(`tr a[href*="${id}"]`)

test('from a call to those of its tag, and from a session to others of its agent and of its user', async () => {
  await open(`/requests/${ids[0]}`)
  await page.getByRole('table', { name: 'Facts' }).getByRole('link', { name: 'v2', exact: true }).click()
  await page.getByText('Agent tag: v2').waitFor()
  for (const id of ids) await rowOf(id).waitFor()
  for (const [name, label] of [
    ['booking-agent', 'agent'],
    ['u-17', 'user'],
  ] as const) {
    await open('/sessions/monday')
    await page.getByRole('link', { name, exact: true }).click()
    await page.getByText(`${label}: ${name}`).waitFor()
    await page.getByRole('link', { name: 'tuesday' }).waitFor()
  }
  await page.getByRole('button', { name: 'booking-agent' }).first().click()
  await page.getByText('agent: booking-agent').waitFor()
  expect(await seriousFindings(page)).toEqual([])
})

test('calls that were broken off are chosen by their status', async () => {
  await open('/requests?range=24h&status=aborted')
  for (const id of ids) await rowOf(id).waitFor()
  expect(await rowOf(site.requestId).count()).toBe(0)
})

test('a call whose identifier another project has too is opened in the project of the link', async () => {
  const other = await site.api.createProject({ name: 'Another' })
  const seeded = { projectId: other.projectId, id: String(ids[1]), model: 'model-of-another' }
  await seedRequest(site.api.pool, createSealer([]), seeded)
  const facts = page.getByRole('table', { name: 'Facts' })
  await page.goto(`/requests/${ids[1]}?project=${other.projectId}`)
  await facts.getByText('model-of-another').waitFor()
  await open(`/requests/${ids[1]}`)
  await facts.getByText('booking-agent').waitFor()
  await page.goto(`/requests/${ids[1]}`)
  await page
    .getByRole('alert')
    .getByText(/several projects/)
    .waitFor()
})

test('reviews of one scorer and the audit log of one project', async () => {
  for (const scorer_name of ['pii_detection', 'jailbreak_detection'])
    await site.api.call('POST', `/api/reviews?project_id=${site.projectId}`, {
      operator: true,
      body: { request_id: site.requestId, scorer_name, agrees: true, reviewer: 'ana' },
    })
  await open('/reviews')
  const reviews = page.getByRole('table', { name: 'Reviews' })
  await reviews.getByText('jailbreak_detection').waitFor()
  await page.getByRole('table', { name: 'Agreement' }).getByRole('button', { name: 'pii_detection' }).click()
  await reviews.getByText('jailbreak_detection').waitFor({ state: 'detached' })
  await reviews.getByText('pii_detection').waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await page.goto('/settings/audit')
  const log = page.getByRole('table', { name: 'Audit log' })
  await log.getByText('signed in').waitFor()
  await log.getByRole('button', { name: 'Checkout' }).first().click()
  await page.getByText('project: Checkout').waitFor()
  await log.getByText('signed in').waitFor({ state: 'detached' })
  await log.getByText('reviewed a score').first().waitFor()
  expect(await seriousFindings(page)).toEqual([])
})

test('a long word moves nothing that stands beside it off the screen', async () => {
  const word = 'W'.repeat(250)
  await seedRequest(site.api.pool, createSealer([]), {
    projectId: site.projectId,
    sessionId: word,
    agentName: word,
    model: word,
  })
  await open(`/sessions/${word}`)
  await page.getByText('1 call', { exact: true }).waitFor()
  expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0)
  await open('/sessions')
  await page.getByRole('link', { name: word }).waitFor()
  // Two columns of long words: each has room for a few letters and is no wider.
  const box = await page.locator('table').boundingBox()
  expect(box?.width).toBeLessThan(1.5 * Number(page.viewportSize()?.width))
})

test('of a session that is longer than what is summed up it is said what the sums are of, and calls that came are read again', async () => {
  const storage = createCallStorage(site.api.pool)
  const call = () => sampleCall(site.projectId, { session_id: 'longest', model: 'gpt-4o' })
  const seedMany = (count: number) => storage.calls(many(count, call))
  await seedMany(500)
  await open('/sessions/longest')
  await page.getByText('500 calls', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Later calls' }).click()
  await page.getByRole('link', { name: 'gpt-4o' }).nth(399).waitFor()
  await seedMany(1)
  await page.getByRole('button', { name: 'Refresh' }).click()
  await page.getByText('the last 500 calls', { exact: true }).waitFor()
  await page.getByRole('link', { name: '0 unsafe' }).click()
  await page.getByText('Worst label: unsafe').waitFor()
  await page.getByText('Session: longest').waitFor()
})

test('a verdict that a promoted run took back is taken back in a list that is open', async () => {
  const id = await seedRequest(site.api.pool, createSealer([]), {
    projectId: site.projectId,
    scores: [{ scorer: 'pii_detection', value: 5, label: 'unsafe', severity: 'critical' }],
  })
  // From then on, new rows are announced.
  const polled = page.waitForResponse((response) => response.url().includes('since=now'))
  await open('/requests?range=24h')
  const row = page.getByRole('row').filter({ has: page.locator(`a[href*="${id}"]`) })
  await row.getByText('critical', { exact: true }).waitFor()
  await polled
  await site.api.pool.query(
    `with promoted as (update safety_scores set score_label = 'safe', severity = null, score_value = 1, stored_xid = pg_current_xact_id() where request_id = $1)
     update request_verdicts set worst_label = 'safe', worst_severity = null, verdict = 'no_finding' where request_id = $1`,
    [idToUuid(id)],
  )
  await row.getByText('No finding', { exact: true }).waitFor()
})

test('a page whose parts a newer build has taken away is loaded again by itself, once for each build, and then by a button', async () => {
  const other = await page.context().newPage()
  const loads: string[] = []
  other.on('request', (request) => {
    if (request.isNavigationRequest()) loads.push(request.url())
  })
  await other.goto(`/tools?project=${site.projectId}`)
  await other.getByRole('heading', { level: 1, name: 'Tools' }).waitFor()
  const gone = '**/assets/{reviews-page,home-page}-*'
  await other.route(gone, (route) =>
    route.fulfill({ status: 404, json: { detail: 'there is no such file' } }),
  )
  await other.getByRole('link', { name: 'Reviews' }).click()
  // The server has this page's build, so a reload would change nothing.
  const alert = other.getByRole('alert').filter({ hasText: 'There is a newer version' })
  await alert.waitFor()
  await other.getByRole('link', { name: 'Sessions' }).click()
  await other.getByRole('heading', { level: 1, name: 'Sessions' }).waitFor()
  expect(loads).toHaveLength(1)
  // Several servers with different builds answer in turn.
  await other.route(
    ({ pathname }) => pathname === '/',
    async (route) => {
      if (route.request().isNavigationRequest()) return route.continue()
      const answer = await route.fetch()
      return route.fulfill({
        response: answer,
        body: (await answer.text()).replaceAll('/index-', `/index-newer-${loads.length % 2}-`),
      })
    },
  )
  const lastLook = other.waitForResponse(
    (response) =>
      loads.length === 3 &&
      !response.request().isNavigationRequest() &&
      new URL(response.url()).pathname === '/',
  )
  await other.getByRole('link', { name: 'Home' }).click()
  await lastLook
  await alert.waitFor()
  await other.getByRole('link', { name: 'Reviews' }).click()
  await alert.waitFor()
  await other.mouse.move(0, 0)
  expect(await seriousFindings(other)).toEqual([])
  await other.unroute(gone)
  await alert.getByRole('button', { name: 'Reload' }).click()
  await other.getByRole('heading', { level: 1, name: 'Reviews' }).waitFor()
  expect(loads).toHaveLength(4)
  await other.close()
})

test('anyone who goes to another project leaves behind what is of the one before', async () => {
  const other = await site.api.createProject({ name: 'Elsewhere' })
  const goToOther = async () => {
    await page.locator('input[aria-label=Project]').click()
    await page.getByRole('option', { name: 'Elsewhere' }).click()
    await page.waitForURL((address) => address.searchParams.get('project') === other.projectId)
  }
  await open('/settings/keys')
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('of the first')
  await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click()
  const key = page.getByText(/^svc_/)
  await key.waitFor()
  await goToOther()
  await key.waitFor({ state: 'detached' })
  const body = { url: 'https://receiver.example.com', events: ['threat_detected'] }
  const made = await site.api.call('POST', `/api/v1/webhooks?project_id=${site.projectId}`, {
    operator: true,
    body,
  })
  await open(`/settings/webhooks/${String(made.json['id'])}/deliveries`)
  await page.getByRole('heading', { level: 1, name: 'Delivery log' }).waitFor()
  await goToOther()
  await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor()
})

test('a page that nobody answered comes by itself once the API is back', async () => {
  const json = { detail: 'the API does not answer at the moment', code: 'API_UNAVAILABLE' }
  const failure = page.getByRole('alert').getByText(json.detail)
  // Cached rows could stand in for the missing answer.
  const agent = page.getByRole('button', { name: 'booking-agent' }).first()
  await open('/sessions')
  await agent.waitFor()
  for (const [asked, ask, title] of [
    ['**/bff/api/sessions?*', () => agent.click(), 'Sessions'],
    ['**/bff/me', () => open('/tools'), 'Tools'],
  ] as const) {
    const again = Promise.withResolvers<Route>()
    let tries = 0
    // The first and the immediate follow-up.
    await page.route(asked, (route) =>
      ++tries <= 3 ? route.fulfill({ status: 503, json }) : again.resolve(route),
    )
    await ask()
    await failure.waitFor()
    const held = await again.promise
    await page.evaluate('new Promise(requestAnimationFrame)')
    // The message stays during retries.
    expect(await failure.isVisible()).toBe(true)
    await held.continue()
    await failure.waitFor({ state: 'detached' })
    await page.getByRole('heading', { level: 1, name: title }).waitFor()
    await page.unroute(asked)
  }
})

test('another of many projects is found by clicking and typing', async () => {
  for (let branch = 1; branch <= 9; branch++) await site.api.createProject({ name: `Branch ${branch}` })
  await open('/tools')
  await page.locator('input[aria-label=Project]').click()
  await page.keyboard.type('Branch 7')
  await page.getByRole('option', { name: 'Branch 7' }).click()
  await page.waitForURL((address) => address.searchParams.get('project') !== site.projectId)
})

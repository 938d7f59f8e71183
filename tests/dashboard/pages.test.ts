import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { until } from '#tests/support/until.ts'
import {
  hostileText,
  onlyInBody,
  seriousFindings,
  startDashboardSite,
  type DashboardSite,
  type VisitedPage,
} from '#tests/support/dashboard-site.ts'
import { signInPerson } from '#tests/support/sign-in-people.ts'

let site: DashboardSite
let admin: VisitedPage

beforeAll(async () => {
  site = await startDashboardSite()
  admin = await site.signIn()
}, 600_000)
afterAll(() => site.stop(), 60_000)

/** Its time. */
const requestTitle = /\d:\d\d/
/** Every page by its address and its title. */
const pages = () =>
  [
    ['/', 'Overview'],
    ['/requests?range=24h', 'Requests'],
    [`/requests/${site.requestId}`, requestTitle],
    ['/sessions?range=24h', 'Sessions'],
    ['/tools', 'Tools'],
    ['/reviews', 'Reviews'],
    ['/score-runs', 'Score runs'],
    ['/runs', 'Red team'],
    ['/operations', 'Operations'],
    ['/operations/dead-letters', 'Dead letters'],
    ['/settings/keys', 'API keys'],
    ['/settings/webhooks', 'Webhooks'],
    ['/settings/project', 'Project settings'],
    ['/settings/billing', 'Billing'],
    ['/settings/projects', 'Projects'],
    ['/settings/people', 'People'],
    ['/settings/audit', 'Audit log'],
    ['/settings/sessions', 'Your sessions'],
  ] as const

async function visit({ page }: VisitedPage, path: string, title: string | RegExp): Promise<void> {
  await page.goto(path)
  await page.getByRole('heading', { level: 1, name: title }).waitFor()
  await until(async () => (await page.getByRole('status', { name: 'Loading' }).count()) === 0)
}

test.each(['light', 'dark'] as const)('every page is accessible in the %s theme', async (theme) => {
  const person = await site.signIn(undefined, undefined, theme)
  const findings: string[] = []
  for (const [path, title] of pages()) {
    await visit(person, path, title)
    findings.push(...(await seriousFindings(person.page)).map((finding) => `${path} ${finding}`))
  }
  await person.context.close()
  expect(findings).toEqual([])
})

test('what people wrote is text on every page: nothing runs, nothing is asked of others, the content policy has nothing to say', async () => {
  await site.api.call('POST', `/api/projects/${site.projectId}/keys`, {
    operator: true,
    body: { name: hostileText.slice(0, 90), label: hostileText.slice(0, 90) },
  })
  const review = { request_id: site.requestId, scorer_name: 'jailbreak_detection', agrees: false }
  await site.api.call('POST', `/api/reviews?project_id=${site.projectId}`, {
    operator: true,
    body: { ...review, reviewer: hostileText.slice(0, 90), reason: hostileText },
  })
  for (const [path, title] of pages()) await visit(admin, path, title)
  await visit(admin, `/requests/${site.requestId}`, requestTitle)
  await admin.page.getByText('window.__ran=1').first().waitFor()
  expect(await admin.page.evaluate(() => Object.hasOwn(globalThis, '__ran'))).toBe(false)
  expect(admin.offences).toEqual([])
  const metrics = await site.dashboard.metrics.registry.metrics()
  expect(metrics).not.toMatch(/sluice_dashboard_csp_reports_total(\{.*\})? [1-9]/)
})

test('requests are triaged by keyboard alone', async () => {
  const { page } = admin
  await visit(admin, '/requests?range=24h', 'Requests')
  await page.keyboard.press('j')
  await until(() => page.evaluate<boolean>("document.activeElement?.tagName === 'A'"))
  await page.keyboard.press('Enter')
  await page.waitForURL(`**/requests/${site.requestId}**`)
  await page.getByText('jailbreak_detection').first().waitFor()
})

test('a key is created, shown once, and revoked', async () => {
  const { page } = admin
  await visit(admin, `/settings/keys?project=${site.projectId}`, 'API keys')
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('from the browser')
  await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click()
  const key = await page.getByText(/^svc_/).textContent()
  const answer = await site.api.call('GET', '/api/requests', { key: String(key) })
  expect(answer.status).toBe(200)
  await page.reload()
  await page.getByRole('cell', { name: 'from the browser', exact: true }).waitFor()
  expect(await page.getByText(String(key)).count()).toBe(0)
  await page.getByRole('button', { name: 'Revoke from the browser' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await until(
    async () => (await page.getByRole('cell', { name: 'from the browser', exact: true }).count()) === 0,
  )
})

test('a webhook is added, its expression checked while it is typed', async () => {
  const { page } = admin
  await visit(admin, `/settings/webhooks?project=${site.projectId}`, 'Webhooks')
  await page.getByRole('button', { name: 'Add webhook' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Address').fill('https://receiver.example.com/hook')
  await dialog.getByLabel('Expression').fill('data.severity == ')
  await dialog.getByText(/line 1/).waitFor()
  await dialog.getByLabel('Expression').fill('data.severity == "critical"')
  await dialog.getByText(/It is valid/).waitFor()
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByText(/^whsec_/).waitFor()
  await page.getByRole('link', { name: 'https://receiver.example.com/hook' }).click()
  await page.getByRole('heading', { level: 1, name: 'Delivery log' }).waitFor()
})

test('a viewer is offered no settings and reads no content; an analyst reads it', async () => {
  const viewer = await signInPerson(site.api, 'viewer', [site.projectId])
  const analyst = await signInPerson(site.api, 'analyst', [site.projectId])
  const seen = await site.signIn(viewer.login, viewer.password)
  expect(await seen.page.getByRole('link', { name: 'Webhooks' }).count()).toBe(0)
  await seen.page.goto('/settings/keys')
  await seen.page.getByText('This is not open to you').waitFor()
  await visit(seen, `/requests/${site.requestId}`, requestTitle)
  await seen.page.getByText('jailbreak_detection').first().waitFor()
  expect(await seen.page.getByText(onlyInBody).count()).toBe(0)
  const read = await site.signIn(analyst.login, analyst.password)
  await visit(read, `/requests/${site.requestId}`, requestTitle)
  await read.page.getByText(onlyInBody).first().waitFor()
  await Promise.all([seen.context.close(), read.context.close()])
})

test('a login that is ended elsewhere is over in an open page, and another site changes nothing', async () => {
  const person = await site.signIn()
  const foreign = await person.context.newPage()
  await foreign.goto('data:text/html,<form method=post></form>')
  await foreign.evaluate(
    `document.forms[0].action = ${JSON.stringify(`${site.dashboard.baseUrl}/bff/logout`)}; document.forms[0].submit()`,
  )
  await foreign.waitForURL(`${site.dashboard.baseUrl}/**`)
  await visit(person, '/tools', 'Tools')
  const { items } = (await site.api.call('GET', '/api/people?page=1', { operator: true })).json as {
    items: { id: string; login: string }[]
  }
  const id = items.find(({ login }) => login === 'admin')?.id
  await site.api.call('DELETE', `/api/people/${id}/logins`, { operator: true })
  await person.page.getByRole('link', { name: 'Requests' }).click()
  await person.page.getByRole('button', { name: 'Log in' }).waitFor()
  await person.context.close()
})

import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals'
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
import { adminPassword } from '#tests/support/start-dashboard.ts'
import { fillPictureCalls } from './picture-calls.ts'
import { fillPictureFindings } from './picture-findings.ts'
import { fillPictureSettings } from './picture-settings.ts'
import { goTo, shown } from './task-fixture.ts'

// Only ends what hangs.
jest.setTimeout(300_000)

let site: DashboardSite
let admin: VisitedPage

beforeAll(async () => {
  site = await startDashboardSite()
  admin = await site.signIn()
}, 600_000)
afterAll(() => site.stop())

/** The request's time. */
const requestTitle = /\d:\d\d/
/** Pages that the navigation does not link. */
async function otherPages(
  webhookId: string,
  findingId: string,
): Promise<[path: string, title: string | RegExp][]> {
  return [
    [`/requests/${site.requestId}`, requestTitle],
    [`/sessions/${encodeURIComponent(hostileText.slice(0, 100))}`, /window.__ran=1/],
    [`/score-runs/${await firstOf('/api/score-runs')}`, 'Score run'],
    [`/runs/${await firstOf('/api/redteam-runs')}`, 'Red-team run'],
    [`/settings/webhooks/${webhookId}/deliveries`, 'Delivery log'],
    [`/findings/${findingId}`, 'pii_detection: payment_card'],
    [`/users/${encodeURIComponent(await firstOf('/api/users', 'user_id'))}`, /./],
    ['/settings/sessions', 'Your sessions'],
  ]
}

async function firstOf(path: string, field = 'id'): Promise<string> {
  const { json } = await site.api.call('GET', `${path}?project_id=${site.projectId}`, { operator: true })
  return String((json['items'] as Record<string, unknown>[])[0]?.[field])
}

describe('every page', () => {
  const titles: (string | RegExp)[] = []
  const findings = { light: [] as string[], dark: [] as string[] }

  beforeAll(async () => {
    await fillPictureCalls(site.api.pool, site.projectId)
    const webhookId = await fillPictureSettings(site.api, site.projectId, site.requestId)
    const findingId = await fillPictureFindings(site.api, site.projectId)
    await writeHostileTexts()
    const { page } = admin
    const check = async (theme: 'light' | 'dark', title: string | RegExp, rules?: string[]) => {
      // The navigation is the same on every page.
      const known = titles.length > 1 ? ['nav[aria-label=Main]'] : []
      const found = await seriousFindings(page, rules, known)
      findings[theme].push(...found.map((each) => `${String(title)} ${each}`))
    }
    const look = async (title: string | RegExp) => {
      await shown(page, title)
      // What is made when it comes into sight.
      await page.evaluate('scrollTo(0, document.body.scrollHeight)')
      await until(async () => (await page.locator('main .mantine-Skeleton-root').count()) === 0)
      titles.push(title)
      if (await page.evaluate<boolean>("'__ran' in globalThis")) admin.offences.push(`${String(title)} ran`)
      await check('light', title)
      await page.emulateMedia({ colorScheme: 'dark' })
      await page.locator('html[data-mantine-color-scheme=dark]').waitFor()
      await check('dark', title, ['color-contrast', 'link-in-text-block'])
      await page.emulateMedia({ colorScheme: 'light' })
    }
    await page.goto(`/?project=${site.projectId}`)
    const links = page.getByRole('navigation', { name: 'Main' }).getByRole('link')
    await links.first().waitFor()
    for (const link of await links.all()) {
      const title = await link.innerText()
      await link.click()
      await page.mouse.move(0, 0)
      await look(title)
    }
    for (const [path, title] of await otherPages(webhookId, findingId)) {
      await page.goto(`${path}?project=${site.projectId}`)
      await look(title)
    }
  }, 900_000)

  test.each(['light', 'dark'] as const)('is accessible in the %s theme', (theme) => {
    expect(titles).toEqual(
      expect.arrayContaining(['Home', 'Findings', 'Dead letters', 'Audit log', 'Your sessions']),
    )
    expect(findings[theme]).toEqual([])
  })

  test('has an entry in the navigation that can be read under the pointer too', async () => {
    const { page } = admin
    await goTo(admin.page, `/tools?project=${site.projectId}`, 'Tools')
    await page.getByRole('link', { name: 'Tools' }).hover()
    expect(await seriousFindings(page, ['color-contrast'])).toEqual([])
  })

  test('scrolls by keyboard where a table without links is wider than a telephone', async () => {
    const { page } = admin
    await page.setViewportSize({ width: 390, height: 844 })
    await goTo(admin.page, `/reviews?project=${site.projectId}`, 'Reviews')
    await page.getByRole('table', { name: 'Agreement' }).waitFor()
    expect(await seriousFindings(page, ['scrollable-region-focusable'])).toEqual([])
    await page.setViewportSize({ width: 1280, height: 720 })
  })

  test('shows what people wrote as text: nothing runs, nothing is requested from others, the content policy has nothing to say', async () => {
    await goTo(admin.page, `/requests/${site.requestId}`, requestTitle)
    await admin.page.getByText('window.__ran=1').first().waitFor()
    expect(admin.offences).toEqual([])
    const metrics = await site.dashboard.metrics.registry.metrics()
    expect(metrics).not.toMatch(/sluice_dashboard_csp_reports_total(\{.*\})? [1-9]/)
  })
})

async function writeHostileTexts(): Promise<void> {
  const text = hostileText.slice(0, 90)
  const key = { name: text, label: text }
  await site.api.call('POST', `/api/projects/${site.projectId}/keys`, { operator: true, body: key })
  const review = { request_id: site.requestId, scorer_name: 'jailbreak_detection', agrees: false }
  await site.api.call('POST', `/api/reviews?project_id=${site.projectId}`, {
    operator: true,
    body: { ...review, reviewer: text, reason: hostileText },
  })
}

test('requests are triaged by keyboard alone', async () => {
  const { page } = admin
  await goTo(admin.page, `/requests?range=24h&project=${site.projectId}`, 'Requests')
  await page.keyboard.press('j')
  // Whichever is newest by now: the fixture's calls are minutes old.
  const focused = () => page.evaluate<string>("document.activeElement?.getAttribute('href') ?? ''")
  await until(async () => /\/requests\/req_/.test(await focused()))
  const [path = ''] = (await focused()).split('?')
  await page.keyboard.press('Enter')
  await page.waitForURL(`**${path}**`)
  await shown(page, requestTitle)
})

test('a key is created with limits, shown once, changed, and revoked', async () => {
  const { page } = admin
  await goTo(admin.page, `/settings/keys?project=${site.projectId}`, 'API keys')
  await page.getByRole('button', { name: 'Create key' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name', { exact: true }).fill('from the browser')
  await dialog.getByLabel('User').fill('ada@example.com')
  await dialog.getByLabel('Models').fill('gpt-4o-*')
  await page.keyboard.press('Enter')
  await dialog.getByRole('button', { name: 'Create' }).click()
  const key = await page.getByText(/^svc_/).textContent()
  const answer = await site.api.call('GET', '/api/requests', { key: String(key) })
  expect(answer.status).toBe(200)
  await page.reload()
  await page.getByRole('cell', { name: 'from the browser', exact: true }).waitFor()
  expect(await page.getByText(String(key)).count()).toBe(0)
  const row = page.getByRole('row').filter({ hasText: 'from the browser' })
  await row.getByText('Models: gpt-4o-*').waitFor()
  await row.getByText('ada@example.com').waitFor()
  await page.getByRole('button', { name: 'Change from the browser' }).click()
  await dialog.getByLabel('Budget a month, USD').fill('20')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await row.getByText(/0\.00 of .*20/).waitFor()
  await page.getByRole('button', { name: 'Revoke from the browser' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
  await until(
    async () => (await page.getByRole('cell', { name: 'from the browser', exact: true }).count()) === 0,
  )
})

test('a webhook is added, its expression checked while it is typed', async () => {
  const { page } = admin
  await goTo(admin.page, `/settings/webhooks?project=${site.projectId}`, 'Webhooks')
  await page.getByRole('button', { name: 'Add webhook' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('URL').fill('https://receiver.example.com/hook')
  await dialog.getByRole('combobox', { name: 'Scorers' }).click()
  await page.getByRole('option', { name: 'pii_detection' }).click()
  await dialog.getByLabel('Expression').fill('data.severity == ')
  await dialog.getByText(/line 1/).waitFor()
  await dialog.getByLabel('Expression').fill('data.severity == "critical"')
  // What it says of recent events, if the pages' data made any.
  const tried = dialog.getByRole('table', { name: 'Results on recent events' })
  await tried.or(dialog.getByText(/^Valid\./)).waitFor()
  await dialog.getByRole('button', { name: 'Save' }).click()
  await page.getByText(/^whsec_/).waitFor()
  await page.getByRole('cell', { name: /^pii_detection/ }).waitFor()
  await page.getByRole('link', { name: 'https://receiver.example.com/hook' }).click()
  await page.getByRole('heading', { level: 1, name: 'Delivery log' }).waitFor()
})

test('a viewer is offered no settings and reads no content; an analyst reads it', async () => {
  const viewer = await signInPerson(site.api, 'viewer', [site.projectId])
  const analyst = await signInPerson(site.api, 'analyst', [site.projectId])
  const seen = await site.signIn(viewer.login, viewer.password)
  await seen.page.goto('/settings/keys')
  await seen.page.getByText('Access denied').waitFor()
  expect(await seen.page.getByRole('link', { name: 'Webhooks' }).count()).toBe(0)
  await goTo(seen.page, `/requests/${site.requestId}`, requestTitle)
  await seen.page.getByText('jailbreak_detection').first().waitFor()
  expect(await seen.page.getByText(onlyInBody).count()).toBe(0)
  const read = await site.signIn(analyst.login, analyst.password)
  await goTo(read.page, `/requests/${site.requestId}`, requestTitle)
  await read.page.getByText(onlyInBody).first().waitFor()
  await Promise.all([seen.context.close(), read.context.close()])
})

test('who signs in in another tab finds here nothing of what the person before was shown', async () => {
  const { page, context } = await site.signIn()
  await page.goto(`/requests/${site.requestId}?project=${site.projectId}`)
  await page.getByText(onlyInBody).first().waitFor()
  const { login: name, password } = await signInPerson(site.api, 'viewer', [site.projectId])
  const headers = { 'x-sluice-dashboard': '1' }
  await context.request.post('/bff/logout', { headers })
  await context.request.post('/bff/login', { headers, data: { name, password } })
  // Answers a request of the previous session.
  await page.route(
    '**/deliveries*',
    (route) => route.fulfill({ status: 401, json: { detail: 'you are signed out', code: 'LOGIN_ENDED' } }),
    { times: 1 },
  )
  await page.getByRole('button', { name: 'viewer' }).waitFor()
  await page.getByRole('table', { name: 'Facts' }).waitFor()
  expect(await page.getByText(onlyInBody).count()).toBe(0)
  await context.close()
})

test('a login that is ended, elsewhere or here, is over in an open page, and another site changes nothing', async () => {
  const person = await site.signIn()
  const foreign = await person.context.newPage()
  await foreign.goto('data:text/html,<form method=post></form>')
  await foreign.evaluate(
    `document.forms[0].action = ${JSON.stringify(`${site.dashboard.baseUrl}/bff/logout`)}; document.forms[0].submit()`,
  )
  await foreign.waitForURL(`${site.dashboard.baseUrl}/**`)
  await goTo(person.page, `/requests/${site.requestId}?project=${site.projectId}`, requestTitle)
  await person.page.getByRole('link', { name: 'Tools' }).click()
  await shown(person.page, 'Tools')
  const { items } = (await site.api.call('GET', '/api/people?page=1', { operator: true })).json as {
    items: { id: string; login: string }[]
  }
  const admins = items.find(({ login }) => login === 'admin')?.id
  await site.api.call('DELETE', `/api/people/${admins}/logins`, { operator: true })
  await person.page.getByRole('link', { name: 'Requests' }).click()
  const form = person.page.locator('form')
  await form.getByLabel('Name').fill('admin')
  await form.getByLabel('Password', { exact: true }).fill('not this one')
  await form.getByRole('button', { name: 'Sign in' }).click()
  await form.getByRole('alert').waitFor()
  await form.getByLabel('Password', { exact: true }).fill(adminPassword)
  await form.getByRole('button', { name: 'Sign in' }).click()
  await shown(person.page, 'Requests')
  // Another person may have signed in: cached answers are refetched, and audited.
  const asked = person.page.waitForRequest(`**/api/requests/${site.requestId}*`)
  await person.page.evaluate('history.go(-2)')
  await asked
  await shown(person.page, requestTitle)
  await person.page.getByRole('button', { name: 'admin' }).click()
  await person.page.getByRole('menuitem', { name: 'Sign out' }).click()
  await form.getByLabel('Password', { exact: true }).waitFor()
  expect(await person.page.getByText(onlyInBody).count()).toBe(0)
  await person.context.close()
})

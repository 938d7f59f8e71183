import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createSealer } from '#runtime/sealing.ts'
import { idToUuid, newId } from '#schemas/ids.ts'
import { topics } from '#schemas/topics.ts'
import { seriousFindings, startDashboardSite, type DashboardSite } from '#tests/support/dashboard-site.ts'
import { seedRequest } from '#tests/support/seed-requests.ts'
import { signInPerson } from '#tests/support/sign-in-people.ts'
import { until } from '#tests/support/until.ts'
import type { Page } from 'playwright-core'

let site: DashboardSite
let page: Page

beforeAll(async () => {
  site = await startDashboardSite()
  page = (await site.signIn()).page
}, 600_000)
afterAll(() => site.stop())

const open = (path: string) => page.goto(`${path}${path.includes('?') ? '&' : '?'}project=${site.projectId}`)

test('deliveries that are ticked are sent again, those under way cannot be', async () => {
  const body = { url: 'https://receiver.example.com', events: ['threat_detected'] }
  const path = `/api/v1/webhooks?project_id=${site.projectId}`
  const { json } = await site.api.call('POST', path, { operator: true, body })
  const webhookId = String(json['id'])
  const failed = [newId('delivery'), newId('delivery')]
  for (const [index, delivery] of [...failed, newId('delivery')].entries()) {
    await site.api.pool.query(
      `insert into webhook_deliveries (id, webhook_id, project_id, event_id, event, event_created_at, data, status, attempt_count, created_at)
       values ($1, $2, $3, gen_random_uuid(), 'threat_detected', now(), '{}', $4, 4, clock_timestamp())`,
      [idToUuid(delivery), idToUuid(webhookId), idToUuid(site.projectId), index < 2 ? 'failed' : 'retrying'],
    )
  }
  await site.api.pool.query(
    `insert into webhooks (id, project_id, url, events, secret_codec, secret_data, created_at, updated_at)
     select gen_random_uuid(), $1, 'https://other.example.com/' || n, '{usage_alert}', 'none', '', now(), now() from generate_series(1, 50) n`,
    [idToUuid(site.projectId)],
  )
  await open('/settings/webhooks')
  await page.getByRole('button', { name: 'Page 2' }).waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await page.getByRole('button', { name: 'Next page' }).click()
  await page.getByRole('link', { name: body.url }).click()
  const ticks = page.getByRole('checkbox', { name: /^Select the delivery/ })
  await ticks.first().waitFor()
  expect(await ticks.first().isDisabled()).toBe(true)
  await page.getByRole('checkbox', { name: 'Select all' }).click()
  await page.getByText('2 selected').waitFor()
  await page.getByRole('button', { name: 'Resend selected' }).click()
  await page.getByText('2 are resent with the same ids.').waitFor()
  const queued = (await site.api.readTopic(topics.deliveryDue)) as { delivery_id: string }[]
  expect(queued.map(({ delivery_id }) => delivery_id)).toEqual(failed)
  const pending = page.getByRole('table').getByText('pending', { exact: true })
  await until(async () => (await pending.count()) === 2)
  // Polled until they end.
  await site.api.pool.query(`update webhook_deliveries set status = 'delivered' where webhook_id = $1`, [
    idToUuid(webhookId),
  ])
  await until(
    async () => (await page.getByRole('table').getByText('delivered', { exact: true }).count()) === 3,
  )
})

test('failed calls are chosen by their status', async () => {
  await site.api.pool.query('update llm_requests set status_code = 503 where id = $1', [
    idToUuid(site.requestId),
  ])
  await open('/requests?range=24h&status=4xx')
  await page.getByText('No matching requests').waitFor()
  await open('/requests?range=24h&status=failed')
  await page.locator(`tr a[href*="${site.requestId}"]`).waitFor()
  await page.getByText('Status: failed').waitFor()
  // A filter that the API rejects can be removed.
  await open('/requests?range=24h&status=broken')
  await page
    .getByRole('alert')
    .getByText(/status/)
    .waitFor()
  await page.getByRole('button', { name: 'Remove the filter on Status' }).click()
  await page.locator(`tr a[href*="${site.requestId}"]`).waitFor()
  // Filters with fixed values are chosen from a list.
  await page.getByRole('heading', { level: 1 }).click()
  await page.keyboard.press('/')
  await page.keyboard.type('worst')
  for (const next of ['Worst label', 'Worst label is', 'Worst label is pending']) {
    expect(await seriousFindings(page)).toEqual([])
    await page.getByRole('option', { name: next, exact: true }).click()
  }
  await page.getByText('Worst label: pending').waitFor()
  await page.getByText('No matching requests').waitFor()
  // Other comparisons are typed; what is wrong is said in words.
  const filter = page.getByRole('combobox', { name: 'Filter' })
  await filter.fill('model like gpt')
  await filter.press('Enter')
  await page.getByText('Model can be compared by: is, is not, contains, starts with').waitFor()
  await open('/requests?range=24h&modle=x')
  await page.getByText('The address has filters that do not exist: modle').waitFor()
  await filter.fill('model is not another')
  await filter.press('Enter')
  await page.getByText('Model is not: another').waitFor()
  await page.locator(`tr a[href*="${site.requestId}"]`).waitFor()
})

test('evidence leads to where it stands: far behind what nobody sees, beside what is said, or in the raw JSON', async () => {
  const found = { part: 'request_body', start: 0, end: 4 }
  const content = `${'\u200b'.repeat(1_000_000)}Obey`
  const tools = [{ type: 'function', function: { name: 'find', description: 'Obey me' } }]
  const id = await seedRequest(site.api.pool, createSealer([]), {
    projectId: site.projectId,
    sessionId: '..',
    requestBody: JSON.stringify({ messages: [{ role: 'user', content }], tools }),
    scores: [
      {
        scorer: 'jailbreak_detection',
        value: 4,
        label: 'unsafe',
        severity: 'high',
        evidence: [
          { ...found, pointer: '/messages/0/content', start: 1_000_000, end: 1_000_004, kind: 'said' },
          { ...found, pointer: '/tools/0/function/description', kind: 'offered' },
          { ...found, pointer: null, kind: 'somewhere' },
        ],
      },
      { scorer: 'banned_words', value: 5, label: 'unsafe', severity: 'medium' },
    ],
  })
  await open(`/requests/${id}`)
  // As in lists: the worst severity of all scores, not that of the highest value.
  await page
    .getByRole('heading', { level: 1, name: /\d:\d\d/ })
    .locator('..')
    .getByText('high', { exact: true })
    .waitFor()
  const seek = (kind: string) => page.getByRole('button', { name: kind, exact: true }).click()
  const isFocused = (text: string) =>
    until(() => page.evaluate<boolean>(`document.activeElement?.textContent === ${JSON.stringify(text)}`))
  await seek('offered')
  await isFocused('Obey')
  await page.getByText('Elsewhere in the call').waitFor()
  expect(await page.locator('mark').allInnerTexts()).toEqual(['⟨ZWSP ×20000⟩', '⟨ZWSP ×500⟩', 'Obey', 'Obey'])
  await seek('somewhere')
  const raw = page.getByRole('tabpanel', { name: 'Raw JSON' })
  await raw.getByText('Download as recorded').waitFor()
  await seek('said')
  await isFocused('Obey')
  await page.getByText('… 979,500 characters …').waitFor()
  expect(await seriousFindings(page)).toEqual([])
  // No path can hold this session's id.
  await page.getByRole('link', { name: 'Session', exact: true }).click()
  await page.getByText('Session: ..').waitFor()
  await page.locator(`tr a[href*="${id}"]`).waitFor()
})

test('a list of another time begins at its first page', async () => {
  await open('/tools?page=2')
  await page.getByRole('combobox', { name: 'Time range' }).click()
  await page.getByRole('option', { name: 'Last 7 days' }).click()
  await page.waitForURL(({ searchParams }) => searchParams.has('range') && !searchParams.has('page'))
})

test('a range from … to … is shown, and changed again', async () => {
  const start = '2026-01-02T03:04:05.678Z'
  await open(`/tools?start=${start}&end=2026-01-05T00:00:00.000Z`)
  const picker = page.getByRole('combobox', { name: 'Time range' })
  await picker.click()
  await page.getByRole('option', { name: /Jan/ }).click()
  const form = page.locator('form').filter({ hasText: /^From/ })
  await form.getByRole('button', { name: 'Clear To' }).waitFor()
  expect(await seriousFindings(page, ['button-name'])).toEqual([])
  // Escape in the calendar returns to the form.
  await form.getByRole('button', { name: 'From' }).first().press('Enter')
  const day = page.getByRole('button', { name: '2 January 2026', exact: true })
  await day.press('Escape')
  await day.waitFor({ state: 'detached' })
  await form.getByRole('button', { name: 'Clear To' }).click()
  await form.getByRole('button', { name: 'Apply' }).click()
  await page.waitForURL(({ searchParams }) => searchParams.get('start') === start && !searchParams.has('end'))
  expect(await picker.inputValue()).toMatch(/^since .*Jan/)
})

test('a question mark shows the keys', async () => {
  await open('/tools')
  await page.getByRole('heading', { level: 1, name: 'Tools' }).waitFor()
  await page.keyboard.press('Shift+?')
  await page.getByRole('dialog').getByText('Next row; Enter opens it').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
})

test("an administrator sees another person's sessions and ends one, which is written down", async () => {
  const analyst = await signInPerson(site.api, 'analyst', [site.projectId])
  await open('/settings/people')
  await page.getByRole('button', { name: `Actions for ${analyst.login}` }).click()
  await page.getByRole('menuitem', { name: 'Sessions', exact: true }).click()
  await page.getByText('203.0.113.7').or(page.getByText('Unknown')).first().waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await page.getByRole('button', { name: 'End', exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'End session' }).click()
  await page.getByText('Not signed in').waitFor()
  expect((await analyst.call('GET', '/api/me')).status).toBe(401)
  const { json } = await site.api.call('GET', '/api/audit', { operator: true })
  const [entry] = json['items'] as object[]
  expect(entry).toMatchObject({
    action: 'person.logins_ended',
    subject: analyst.id,
    detail: { count: 1, login_id: expect.stringMatching(/^lgn_/) },
  })
})

test('who has more projects than are named is told so, and follows a link to another', async () => {
  await site.api.pool.query(
    `insert into projects (id, name, created_at) select gen_random_uuid(), 'A' || n, now() from generate_series(1, 500) n`,
  )
  await open('/tools')
  await page.getByText('500 of 501: find others under Projects').waitFor()
  const switcher = page.getByRole('combobox', { name: 'Project', exact: true })
  expect(await switcher.inputValue()).toBe(site.projectId)
  expect(await seriousFindings(page)).toEqual([])
})

// Last, because they change the clock.
test('a list keeps its range while it is read: its pages and its place would be lost', async () => {
  const starts: (string | null)[] = []
  page.on('request', (request) => {
    const { pathname, searchParams } = new URL(request.url())
    if (pathname === '/bff/api/requests') starts.push(searchParams.get('start'))
  })
  await page.clock.install()
  await open('/requests?range=1h')
  await until(() => Promise.resolve(starts.length > 0))
  // Ranges of the last hour advance in steps of five minutes.
  await page.clock.fastForward(360_000)
  await page.getByRole('button', { name: 'Columns' }).click()
  await page.getByRole('checkbox', { name: 'Provider' }).check()
  const asked = starts.length
  await page.clock.fastForward(6_000)
  await until(() => Promise.resolve(starts.length > asked))
  expect(new Set(starts).size).toBe(1)
})

// The API is down then.
test('a page whose numbers cannot be read again says when they were read', async () => {
  await open('/operations')
  const consumers = page.getByRole('heading', { name: 'Consumers' })
  await consumers.waitFor()
  const line = page.getByText(/^Last updated at .*; the API does not answer/)
  expect(await line.count()).toBe(0)
  // No answer tells as little as a refusal.
  const asked = '**/bff/api/operations*'
  await page.route(asked, () => undefined)
  await until(async () => {
    await page.clock.fastForward(15_000)
    return page.getByText(/^Last updated at .*; waiting for an answer/).isVisible()
  })
  await page.unroute(asked)
  await site.api.stop()
  await until(async () => {
    await page.clock.fastForward(15_000)
    return line.isVisible()
  })
  expect(await consumers.isVisible()).toBe(true)
  expect(await seriousFindings(page)).toEqual([])
})

import { expect, test } from '@jest/globals'
import { readFile } from 'node:fs/promises'
import type { Page, Route } from 'playwright-core'
import { createSealer } from '#runtime/sealing.ts'
import { newId } from '#schemas/ids.ts'
import { seedRequest } from '#tests/support/seed-requests.ts'
import { until } from '#tests/support/until.ts'
import { confirm, expectAccessible, goTo, type TaskFixture } from './task-fixture.ts'

/** The mock judge takes it literally. */
const harmless = 'That film was the bomb.'

/** Reviewing verdicts and scoring history again. */
export function judgingTasks(fixture: () => TaskFixture): void {
  test('an analyst agrees with one verdict, disagrees with another, and exports the cases', async () => {
    const { project, record, signIn, system } = fixture()
    const id = await record({
      model: 'gpt-4o',
      request_body: { messages: [{ role: 'user', content: harmless }] },
      response_body: { choices: [{ index: 0, message: { role: 'assistant', content: 'I liked it too.' } }] },
    })
    const password = 'the password of ana'
    const person = { login: 'ana', name: 'Ana', role: 'analyst', project_ids: [project.id], password }
    const made = await system.call('POST', '/api/people', person)
    expect(made.status).toBe(201)
    const { page, context } = await signIn('ana', password)
    await page.goto(`/requests/${id}`)
    await review(page, 'pii_detection', 'Agree', 'Nobody is named.')
    await page.getByText('ana agrees: Nobody is named.').waitFor()
    // Her session ends while she writes; the draft is there once she has signed in again.
    await system.call('DELETE', `/api/people/${String(made.json['id'])}/logins`)
    await review(page, 'content_safety', 'Disagree', 'It is about a film.')
    await page.getByLabel('Name').fill('ana')
    await page.getByLabel('Password', { exact: true }).fill(password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    // As when signing out fails.
    const away = { detail: 'the API does not answer at the moment', code: 'API_UNAVAILABLE' }
    await page.route('**/bff/logout', (route) => route.fulfill({ status: 503, json: away }), { times: 1 })
    await logOut(page)
    await page.getByText(away.detail).waitFor()
    await page.reload()
    const card = page.getByRole('region', { name: 'content_safety' })
    expect(await card.getByLabel('Comment').inputValue()).toBe('It is about a film.')
    await card.getByRole('button', { name: 'Save' }).click()
    await page.getByText('ana says safe: It is about a film.').waitFor()
    await card.getByLabel('Comment').waitFor({ state: 'detached' })

    // Submitted again, and left before it was saved: no draft remains.
    const saving = Promise.withResolvers<Route>()
    await page.route('**/bff/api/reviews?*', (route) =>
      route.request().method() === 'POST' ? saving.resolve(route) : route.continue(),
    )
    await review(page, 'content_safety', 'Disagree', 'It is about a film.')
    const held = await saving.promise
    await page.getByRole('link', { name: 'Reviews', exact: true }).click()
    await card.waitFor({ state: 'detached' })
    await held.continue()
    await until(async () => (await draftsOn(page)) === 0)
    const agreement = page.getByRole('table', { name: 'Agreement' })
    const cells = (scorer: string) =>
      agreement.getByRole('row').filter({ hasText: scorer }).getByRole('cell').allInnerTexts()
    await agreement.getByText('content_safety').waitFor()
    expect(await cells('content_safety')).toEqual(['content_safety', '1', '0%', '1', '0'])
    expect(await cells('pii_detection')).toEqual(['pii_detection', '1', '100%', '0', '0'])
    await page.getByText('Disagreed', { exact: true }).click()
    await page.waitForURL('**agrees=false**')
    const reviews = page.getByRole('table', { name: 'Reviews' })
    await reviews.getByText('pii_detection').waitFor({ state: 'detached' })
    await reviews.getByText('should be safe').waitFor()
    const busy = { detail: '2 exports of the project are under way here', code: 'EXPORTS_BUSY' }
    await page.route('**/bff/api/reviews/export?*', (route) => route.fulfill({ status: 429, json: busy }), {
      times: 1,
    })
    const exportCases = page.getByRole('button', { name: 'Export cases' })
    await exportCases.click()
    await page.getByText(busy.detail).waitFor()
    const download = page.waitForEvent('download')
    await exportCases.click()
    const lines = (await readFile(await (await download).path(), 'utf8')).trimEnd().split('\n')
    expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
      { scorer: 'content_safety', label: 0, prompt: harmless },
    ])
    // Nor an unsent draft, once she has signed out.
    await page.goto(`/requests/${id}`)
    await card.getByRole('button', { name: 'Agree', exact: true }).click()
    await until(async () => (await draftsOn(page)) === 1)
    await logOut(page)
    await page.getByLabel('Password', { exact: true }).waitFor()
    await until(async () => (await draftsOn(page)) === 0)
    await context.close()
  })

  test('an analyst looks at what a suppression covers, makes it with an end, and revokes it', async () => {
    const { project, read, record, signIn, system } = fixture()
    const content = 'My card is 5500 0000 0000 0004.'
    const id = await record({ model: 'gpt-4o', request_body: { messages: [{ role: 'user', content }] } })
    const password = 'the password of ida'
    const person = { login: 'ida', name: 'Ida', role: 'analyst', project_ids: [project.id], password }
    expect((await system.call('POST', '/api/people', person)).status).toBe(201)
    const { page, context } = await signIn('ida', password)
    await page.goto(`/requests/${id}`)
    const card = page.getByRole('region', { name: 'pii_detection' })
    await card.getByRole('button', { name: 'False alarm…' }).click()
    const form = page.getByRole('dialog')
    const suppress = form.getByRole('button', { name: 'Suppress' })
    await suppress.click()
    await form.getByText('Say why it is a false alarm').waitFor()
    await form.getByLabel('Reason').fill('The card of our tests.')
    await form.getByRole('button', { name: 'What would it have covered?' }).click()
    await form.getByText(/^1 of \d+ unsafe scores of the last 30 days\.$/).waitFor()
    await expectAccessible(page)
    await suppress.click()
    await form.waitFor({ state: 'detached' })
    // The list says it of this call at once.
    await card.getByText('ida says safe: The card of our tests.').waitFor()
    await page.goto(`/requests?range=24h&review=false_alarm&project=${project.id}`)
    await page.getByRole('row').filter({ hasText: content }).getByText('false alarm').waitFor()
    await expectAccessible(page)
    // Sinks take up a new suppression within seconds: calls are recorded until one is marked.
    let marked: string | undefined
    await until(async () => {
      const again = await record({ model: 'gpt-4o', request_body: { messages: [{ role: 'user', content }] } })
      const { items } = await read(`/api/safety-scores?project_id=${project.id}&request_id=${again}`)
      const scores = items as { suppressed_by: string | null }[]
      if (scores.some((score) => score.suppressed_by !== null)) marked = again
      return marked !== undefined
    })
    await page.goto(`/requests/${marked}`)
    await card.getByRole('link', { name: 'Marked as a known false alarm' }).click()
    const row = page
      .getByRole('table', { name: 'Suppressions' })
      .getByRole('row')
      .filter({ hasText: 'our tests' })
    await row.getByText('one exact value').waitFor()
    await row.getByRole('button', { name: 'Revoke' }).click()
    await confirm(page, 'Revoke')
    await row.getByText('Ended').waitFor()
    await context.close()
  })

  test('history is scored again after its cost was told, compared, and made to stand', async () => {
    const { admin, system, record } = fixture()
    const { page } = admin
    const project = await system.createProject({ name: 'Archive', tier: 'team' })
    const body = JSON.stringify({ messages: [{ role: 'user', content: 'My card is 4111 1111 1111 1111.' }] })
    // As scored by an older version that did not know cards.
    const missed = await seedRequest(system.pool, createSealer([]), {
      projectId: project.id,
      id: newId('request', Date.now() - 60_000),
      requestBody: body,
      scores: [{ scorer: 'pii_detection', value: 1, label: 'safe' }],
    })
    await record({ request_body: { messages: [{ role: 'user', content: 'Hello' }] } }, project)

    await goTo(page, `/score-runs?project=${project.id}`, 'Score runs')
    await page.getByRole('button', { name: 'Score again' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Scorers').fill('pii_detecton')
    await page.keyboard.press('Enter')
    await dialog.getByRole('button', { name: 'Estimate' }).click()
    await dialog
      .getByRole('alert')
      .getByText(/no scorer is called/)
      .waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Score again' }).click()
    await dialog.getByLabel('Scorers').fill('pii_detection')
    await page.keyboard.press('Enter')
    expect(await dialog.getByRole('button', { name: 'Start' }).isDisabled()).toBe(true)
    await dialog.getByRole('button', { name: 'Estimate' }).click()
    await dialog.getByText(/^2 calls\. Judges: US\$0\.00\d+\.$/).waitFor()
    await expectAccessible(page)
    await dialog.getByRole('button', { name: 'Start' }).click()

    await page.getByRole('heading', { level: 1, name: 'Score run' }).waitFor()
    await page.getByText('done', { exact: true }).waitFor()
    await page.getByText('2 of 2 (100%)').waitFor()
    await page.getByText('safe → unsafe: 1').waitFor()
    const changed = page.getByRole('table', { name: 'Changed verdicts' })
    await changed.getByRole('link', { name: missed }).waitFor()
    await changed.getByRole('button', { name: /^Why / }).first().click()
    const reasons = page.getByRole('dialog')
    await reasons
      .getByRole('region', { name: 'Later' })
      .getByText(/^\w+, /)
      .waitFor()
    await reasons.getByText(/My card is/).waitFor()
    await expectAccessible(page)
    await page.keyboard.press('Escape')
    await reasons.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Promote' }).click()
    await confirm(page, 'Promote')
    await page.getByText('promoted', { exact: true }).waitFor()
    await page.getByRole('columnheader', { name: 'Now' }).waitFor()
    await page.getByText('safe → unsafe: 1').waitFor()
    await page.goto(`/requests/${missed}`)
    await page
      .getByRole('region', { name: 'pii_detection' })
      .getByText(/critical|high|medium/i)
      .waitFor()
  })

  test('what is to be scored again ends now, also in the hour that comes twice', async () => {
    const { page, context } = await fixture().signIn()
    const emulated = await context.newCDPSession(page)
    await emulated.send('Emulation.setTimezoneOverride', { timezoneId: 'Europe/Berlin' })
    await page.clock.setFixedTime('2026-10-25T01:30:00.500Z')
    const calls = { calls: 0, calls_are_exact: true, calls_without_bodies: 0, estimated_judge_usd: 0 }
    await page.route('**/bff/api/score-runs', (route) => route.fulfill({ json: { run: null, ...calls } }))
    await goTo(page, `/score-runs?project=${fixture().project.id}`, 'Score runs')
    await page.getByRole('button', { name: 'Score again' }).click()
    const asked = page.waitForRequest('**/bff/api/score-runs')
    await page.getByRole('button', { name: 'Estimate' }).click()
    const range = { start: '2026-10-18T01:30:00.500Z', end: '2026-10-25T01:30:00.500Z' }
    expect((await asked).postDataJSON()).toMatchObject(range)
    await context.close()
  })

  test('a run that no scorer takes up is cancelled', async () => {
    const { admin, system, project } = fixture()
    const { page } = admin
    await system.stopScorer()
    const end = new Date().toISOString()
    const start = new Date(Date.now() - 3_600_000).toISOString()
    const ordered = await system.call('POST', '/api/score-runs', { start, end, project_id: project.id })
    const { id } = ordered.json['run'] as { id: string }
    await goTo(page, '/score-runs', 'Score runs')
    await page.locator(`a[href*="${id}"]`).click()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await confirm(page, 'Cancel the run')
    await page.getByText('cancelled', { exact: true }).waitFor()
    await page.getByText('No scores yet').waitFor()
  })
}

async function logOut(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Ana' }).click()
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
}

function draftsOn(page: Page): Promise<number> {
  return page.evaluate("Object.keys(sessionStorage).filter((key) => key.startsWith('sluice.draft.')).length")
}

async function review(page: Page, scorer: string, choice: 'Agree' | 'Disagree', why: string): Promise<void> {
  const card = page.getByRole('region', { name: scorer })
  await card.getByRole('button', { name: choice, exact: true }).click()
  await card.getByLabel('Comment').fill(why)
  await card.getByRole('button', { name: 'Save' }).click()
}

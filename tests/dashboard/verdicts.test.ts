import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import { liveRunId, scoreId } from '#schemas/ids.ts'
import { many, sampleCall, sampleScore, sampleScoredCall } from '#services/sink/testing/sample-records.ts'
import { seriousFindings, startDashboardSite, type DashboardSite } from '#tests/support/dashboard-site.ts'
import { createCallStorage } from '#tests/support/store-calls.ts'

let site: DashboardSite
let page: Page
let partly: string
let clean: string

const safe = { score_value: 1, score_label: 'safe', severity: null } as const
const unscored = (reason: string) =>
  ({ score_value: null, score_label: 'unscored', severity: null, reason }) as const
const scorers = {
  pii_detection: safe,
  excessive_agency: unscored('no_tools'),
  hallucination: unscored('detectors_undecided'),
  vector_weakness: unscored('detectors_undecided'),
  content_safety: unscored('language_not_covered'),
}

beforeAll(async () => {
  site = await startDashboardSite()
  page = (await site.signIn()).page
  const storage = createCallStorage(site.api.pool)
  const calls = many(2, () => sampleCall(site.projectId))
  await storage.calls(calls)
  const records = calls.map((call, index) =>
    sampleScoredCall(call, {
      scores: Object.entries(scorers)
        .slice(0, index === 0 ? 5 : 4)
        .map(([scorer, verdict]) =>
          sampleScore(site.projectId, call.id, {
            ...verdict,
            scorer_name: scorer,
            id: scoreId(site.projectId, call.id, scorer, liveRunId(site.projectId)),
          }),
        ),
    }),
  )
  await storage.scores(records)
  ;[partly = '', clean = ''] = calls.map(({ id }) => id)
}, 600_000)
afterAll(() => site.stop())

const open = (path: string) => page.goto(`${path}${path.includes('?') ? '&' : '?'}project=${site.projectId}`)
const rowOf = (id: string) => page.getByRole('row').filter({ has: page.locator(`a[href*="${id}"]`) })

test('a list says what the scores of a call say together, and chooses by it', async () => {
  await open('/requests?range=24h')
  await rowOf(partly).getByText('Partly read', { exact: true }).waitFor()
  await rowOf(partly).getByText('1 of 4, not content_safety').waitFor()
  await rowOf(clean).getByText('No finding', { exact: true }).waitFor()
  await page.getByRole('group', { name: 'Verdict' }).getByRole('button', { name: 'Partly read' }).click()
  await page.getByText('Verdict: Partly read').waitFor()
  await rowOf(clean).waitFor({ state: 'detached' })
  await rowOf(partly).waitFor()
})

test('a request names who did not read it, and keeps together the scores that say the same of it', async () => {
  await open(`/requests/${partly}`)
  await page.getByText('Partly read · 1 of 4 scorers decided · not read by content_safety').waitFor()
  const undecided = page.getByRole('button', { name: /^Looked at, nothing found \(2\)/ })
  await page.getByRole('button', { name: /^Language or kind not covered \(1\)/ }).waitFor()
  await page.getByRole('button', { name: /^Nothing to judge in this call \(1\)/ }).waitFor()
  await page.getByRole('region', { name: 'pii_detection' }).waitFor()
  const hidden = page.getByRole('region', { name: 'vector_weakness' })
  expect(await hidden.isVisible()).toBe(false)
  await undecided.click()
  await hidden.getByRole('link', { name: 'vector_weakness' }).waitFor()
  expect(await seriousFindings(page)).toEqual([])
})

test('home says once that there is no judge, until a scorer has one', async () => {
  const notice = page.getByText('No judge is configured')
  const note = (isConfigured: boolean) =>
    site.api.pool.query('insert into judge_status values ($1, now())', [isConfigured])
  await open('/?range=24h')
  await page.getByText('1 partly read').waitFor()
  expect(await notice.count()).toBe(0)
  await note(false)
  await open('/?range=24h')
  await notice.waitFor()
  await page.getByText('set OPENAI_API_KEY, or OPENAI_BASE_URL').waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await note(true)
  await open('/?range=24h')
  await page.getByText('1 partly read').waitFor()
  expect(await notice.count()).toBe(0)
})

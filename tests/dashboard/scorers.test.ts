import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import { createSealer } from '#runtime/sealing.ts'
import { idFromUuid, idToUuid } from '#schemas/ids.ts'
import { sealedIdentity } from '#schemas/sealed-bytes.ts'
import { seriousFindings, startDashboardSite, type DashboardSite } from '#tests/support/dashboard-site.ts'
import { signInPerson } from '#tests/support/sign-in-people.ts'
import { until } from '#tests/support/until.ts'
import { goTo } from './task-fixture.ts'

// Only ends what hangs.
jest.setTimeout(300_000)

let site: DashboardSite
beforeAll(async () => {
  site = await startDashboardSite()
}, 600_000)
afterAll(() => site.stop())

/** As the scorer service does. */
async function finishPreview(): Promise<void> {
  const { pool } = site.api
  const waiting = async () =>
    (await pool.query<{ id: string }>(`select id from scorer_previews where status = 'queued'`)).rows[0]
  await until(async () => (await waiting()) !== undefined)
  const row = await waiting()
  if (row === undefined) throw new Error('no preview')
  const hit = {
    request_id: site.requestId,
    created_at: new Date().toISOString(),
    score_value: 5,
    rationale: 'Matched keyword 1.',
    expected: 'safe',
    matches: [{ part: 'request_body', pointer: null, kind: 'keyword 1', text: 'the FALCON <b>' }],
  }
  const report = {
    ...{ planned: 9, calls: 9, hits: 1, unscored: 0, unreadable: 0, without_bodies: 0 },
    ...{ stopped_by: null, cost_usd: null },
    reviews: { calls: 1, agreed: 0, false_alarms: 1, missed: 0 },
  }
  const identity = sealedIdentity(site.projectId, idFromUuid('scorerPreview', row.id), 'scorer_preview')
  const hits = createSealer([]).seal(Buffer.from(JSON.stringify([hit])), identity)
  await pool.query(
    `update scorer_previews set status = 'done', report = $2, hits_codec = $3, hits_data = $4 where id = $1`,
    [row.id, report, hits.codec, hits.data],
  )
}

test('an analyst adds a scorer, sees what it would find, switches it on, and another one off', async () => {
  const analyst = await signInPerson(site.api, 'analyst', [site.projectId])
  const { page, context } = await site.signIn(analyst.login, analyst.password)
  await goTo(page, '/scorers', 'Scorers')
  await page.getByRole('button', { name: 'Add scorer' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('falcons')
  await dialog.getByLabel('Keywords').fill('falcon\nbluebird')
  await dialog.getByRole('button', { name: /^Preview/ }).click()
  await finishPreview()
  await dialog.getByText('It would find 1 of 9 calls', { exact: false }).waitFor()
  await dialog.getByText('the FALCON <b>').waitFor()
  await dialog.getByText('False alarm', { exact: true }).waitFor()
  expect(await seriousFindings(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByRole('switch', { name: 'falcons is on' }).click({ force: true })
  await page.getByRole('switch', { name: 'pii_detection is on' }).click({ force: true })
  const stateOf = async () => {
    const { json } = await analyst.call('GET', '/api/scorers?page_size=200')
    const items = json['items'] as { name: string; enabled: boolean }[]
    return items
      .filter(({ name }) => ['falcons', 'pii_detection'].includes(name))
      .map(({ name, enabled }) => `${name} ${enabled}`)
      .sort()
  }
  await until(async () => (await stateOf()).join() === 'falcons true,pii_detection false')
  await page.getByRole('button', { name: 'Edit falcons' }).click()
  await dialog.getByLabel('Keywords').waitFor()
  expect(await dialog.getByLabel('Keywords').inputValue()).toBe('falcon\nbluebird')
  await dialog.getByLabel('Keywords').fill('')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByText(/>=1/).first().waitFor()
  const { rows } = await site.api.pool.query('select version from project_scorers where project_id = $1', [
    idToUuid(site.projectId),
  ])
  expect(rows).toEqual([{ version: 1 }])
  await context.close()
})

test('a viewer sees what runs and changes nothing', async () => {
  const viewer = await signInPerson(site.api, 'viewer', [site.projectId])
  const { page, context } = await site.signIn(viewer.login, viewer.password)
  await goTo(page, '/scorers', 'Scorers')
  await page.getByRole('switch', { name: 'jailbreak_detection is on' }).waitFor()
  expect(await page.getByRole('switch', { name: 'jailbreak_detection is on' }).isDisabled()).toBe(true)
  expect(await page.getByRole('button', { name: 'Add scorer' }).count()).toBe(0)
  await context.close()
})

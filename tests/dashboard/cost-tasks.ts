import { beforeAll, expect, test } from '@jest/globals'
import { readFile } from 'node:fs/promises'
import type { Locator } from 'playwright-core'
import { idToUuid } from '#schemas/ids.ts'
import { countClicks, expectAccessible, goTo, shown, type TaskFixture } from './task-fixture.ts'

/** What calls cost, and who made them. */
export function costTasks(fixture: () => TaskFixture): void {
  let project: TaskFixture['project']

  beforeAll(async () => {
    const { system, record } = fixture()
    project = await system.createProject({ name: 'Two teams', tier: 'team' })
    // Declared long ago: the API counts from the next minute.
    await system.pool.query('update projects set metadata_keys = $2 where id = $1', [
      idToUuid(project.id),
      JSON.stringify([{ name: 'team', counted_from: '2026-01-01T00:00:00.000Z' }]),
    ])
    // Sinks read declared keys every 15 seconds.
    await new Promise((resolve) => setTimeout(resolve, 16_000))
    const call = (team: string, user_id: string, cost_usd: number) =>
      record({ ...asked, metadata: { team, room: user_id }, user_id, session_id: user_id, cost_usd }, project)
    await Promise.all([call('shop', 'ada', 3), call('shop', 'bob', 1), call('search', 'ada', 2)])
  })

  test('cost by team last month takes two clicks, its calls a third', async () => {
    // The clock of a context says the next month for all its pages: the calls were made in the last one.
    const { page, context } = await fixture().signIn()
    const now = new Date()
    await page.clock.setFixedTime(new Date(now.getFullYear(), now.getMonth() + 1, 2))
    let clicks = 0
    const click = async (target: Locator) => {
      clicks++
      await target.click()
    }
    await goTo(page, `/tools?project=${project.id}`, 'Tools')
    await click(page.getByRole('link', { name: 'Cost', exact: true }))
    await click(page.getByRole('button', { name: 'Last month' }))
    const rows = page.getByRole('table', { name: 'Costs' }).getByRole('row')
    await rows.filter({ hasText: 'shop' }).getByText('66.7%').waitFor()
    expect((await rows.nth(1).getByRole('cell').allInnerTexts()).slice(0, 5)).toEqual([
      ...['shop', 'US$4.00', '66.7%', 'US$0.00', '2'],
    ])
    expect(clicks).toBe(2)
    await page.getByRole('group', { name: 'Cost by team' }).waitFor()
    await expectAccessible(page)
    const file = page.waitForEvent('download')
    await page.getByRole('button', { name: 'CSV' }).click()
    expect(await readFile(await (await file).path(), 'utf8')).toMatch(/^metadata\.team,.*\r\nshop,2,/)
    await click(rows.getByRole('link', { name: 'shop' }))
    await page.getByRole('heading', { level: 1, name: 'Requests' }).waitFor()
    await page.locator('tr[data-index]').nth(1).waitFor()
    expect([clicks, await page.locator('tr[data-index]').count()]).toEqual([3, 2])
    await context.close()
  })

  test('cost by metadata that is not counted is read from the calls', async () => {
    const { page } = fixture().admin
    await goTo(page, `/costs?project=${project.id}`, 'Cost')
    await page.getByLabel('Other metadata key').fill('room')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Cost by room' }).waitFor()
    await page.getByRole('combobox', { name: 'And by' }).click()
    await page.getByRole('option', { name: 'team' }).click()
    const rows = page.getByRole('table', { name: 'Costs' }).getByRole('row')
    await rows.getByText('ada, shop').waitFor()
    expect(await rows.count()).toBe(4)
  })

  test('a user’s cost and models are two clicks away, their calls and sessions three', async () => {
    const { page } = fixture().admin
    await goTo(page, `/tools?project=${project.id}`, 'Tools')
    const clicks = await countClicks(page)
    await page.getByRole('link', { name: 'Users', exact: true }).click()
    const row = page.getByRole('table', { name: 'Users' }).getByRole('row').filter({ hasText: 'ada' })
    await row.waitFor()
    expect((await row.getByRole('cell').allInnerTexts()).toSpliced(1, 1)).toEqual([
      ...['ada', '2', expect.any(String), '0%', '1', expect.any(String), 'US$5.00'],
    ])
    await row.getByRole('link', { name: 'ada' }).click()
    await shown(page, 'ada')
    const models = page.getByRole('table', { name: 'Models' }).getByRole('row')
    expect((await models.nth(1).getByRole('cell').allInnerTexts()).slice(0, 2)).toEqual(['gpt-4o', '2'])
    await page.getByRole('group', { name: 'Cost', exact: true }).getByText('US$5.00').waitFor()
    // The judge may have found something in "Good morning."
    const findings = page.getByRole('region', { name: 'Open findings' })
    await findings.getByRole('link').or(findings.getByText('None with a call')).first().waitFor()
    expect(await clicks()).toBe(2)
    await page.getByRole('group', { name: 'Calls by model' }).waitFor()
    await expectAccessible(page)
    await page.getByRole('main').getByRole('link', { name: 'Requests' }).click()
    await shown(page, 'Requests')
    await page.locator('tr[data-index]').nth(1).waitFor()
    expect([await clicks(), await page.locator('tr[data-index]').count()]).toEqual([3, 2])
    await page.goBack()
    await page.getByRole('main').getByRole('link', { name: 'Sessions' }).click()
    await shown(page, 'Sessions')
  })
}

const asked = {
  model: 'gpt-4o',
  latency_ms: 300,
  request_body: { model: 'gpt-4o', messages: [{ role: 'user', content: 'Hello.' }] },
  response_body: { choices: [{ index: 0, message: { role: 'assistant', content: 'Good morning.' } }] },
}

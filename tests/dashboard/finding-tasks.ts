import { beforeAll, expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import type { VisitedPage } from '#tests/support/dashboard-site.ts'
import { until } from '#tests/support/until.ts'
import { confirm, countClicks, expectAccessible, goTo, shown, type TaskFixture } from './task-fixture.ts'

const agents = ['desk-one', 'desk-two', 'desk-three']
const leaks = (card: string) => ({
  model: 'gpt-4o',
  request_body: { messages: [{ role: 'user', content: `My card is ${card}.` }] },
})

/** Findings as a queue, and rules that watch rates. */
export function findingTasks(fixture: () => TaskFixture): void {
  let project: TaskFixture['project']
  let analyst: VisitedPage

  beforeAll(async () => {
    const { system, record, signIn } = fixture()
    project = await system.createProject({ name: 'Help desk', tier: 'team' })
    for (const agent_name of agents) await record({ ...leaks('5500 0000 0000 0004'), agent_name }, project)
    const password = 'the password of fay'
    const person = { login: 'fay', name: 'Fay', role: 'analyst', project_ids: [project.id], password }
    expect((await system.call('POST', '/api/people', person)).status).toBe(201)
    analyst = await signIn('fay', password)
  })

  const rows = (page: Page) =>
    page.getByRole('table', { name: 'Findings' }).getByRole('row').filter({ hasText: 'desk-' })
  test('findings are worked on by keyboard, in bulk, and every change is taken back', async () => {
    const { page } = analyst
    await goTo(page, `/findings?project=${project.id}`, 'Findings')
    await until(async () => (await rows(page).count()) === 3)
    await expectAccessible(page)
    await page.keyboard.press('j')
    await page.keyboard.press('a')
    await page.getByText('1 finding acknowledged.').waitFor()
    await until(async () => (await rows(page).count()) === 2)
    // The next one has the focus.
    await until(() => page.evaluate<boolean>("document.activeElement?.id.startsWith('finding-') ?? false"))
    await page.keyboard.press('z')
    await page.getByText('Undone.').waitFor()
    await until(async () => (await rows(page).count()) === 3)

    await page.getByRole('checkbox', { name: 'Select all' }).check()
    await page.getByText('3 selected').waitFor()
    // The active row is taken out of the selection, and put back.
    await page.keyboard.press('j')
    await page.keyboard.press('x')
    await page.getByText('2 selected').waitFor()
    await page.keyboard.press('x')
    await page.getByText('3 selected').waitFor()
    await page.keyboard.press('o')
    await page.getByRole('dialog').getByLabel('Owner').click()
    await page.getByRole('option', { name: 'Fay (you)' }).click()
    await expectAccessible(page)
    await confirm(page, 'Assign')
    await page.getByText('3 findings assigned.').waitFor()
    expect(await rows(page).getByText('fay', { exact: true }).count()).toBe(3)

    await page.getByRole('checkbox', { name: 'Select all' }).check()
    await page.keyboard.press('e')
    await page.getByText('3 findings resolved.').waitFor()
    await page.getByText('Nothing is open').waitFor()
    await page
      .getByRole('alert')
      .filter({ hasText: 'resolved' })
      .getByRole('button', { name: 'Undo' })
      .click()
    await until(async () => (await rows(page).count()) === 3)

    await page.keyboard.press('/')
    await page.keyboard.type('desk-two')
    await page.getByRole('option', { name: 'desk-two (1)' }).click()
    await page.waitForURL('**agent_name=desk-two*')
    await until(async () => (await rows(page).count()) === 1)
    await page.getByRole('heading', { level: 1 }).click()
    await page.keyboard.press('j')
    await page.keyboard.press('m')
    await expectAccessible(page)
    await confirm(page, 'Mute')
    await page.getByText('1 finding muted.').waitFor()
    await page.getByText('Muted 1').click()
    await rows(page)
      .getByText(/^until /)
      .waitFor()
  })

  test('from what is open to the evidence, to a false alarm, to its suppression', async () => {
    const { page } = analyst
    await goTo(page, `/?project=${project.id}`, 'Home')
    await page
      .getByRole('status')
      .filter({ hasText: /open findings/ })
      .waitFor()
    await expectAccessible(page)
    const clicks = await countClicks(page)
    const open = page.getByRole('region', { name: 'Open findings' })
    await open.getByRole('link', { name: /critical|high/ }).click()
    await shown(page, 'Findings')
    await rows(page).filter({ hasText: 'desk-one' }).getByRole('link').click()
    await page.getByRole('table', { name: 'Facts' }).getByText('desk-one').waitFor()
    const finding = page.url()
    await page.getByRole('table', { name: 'Calls' }).getByRole('link').first().click()
    await page.getByText('5500 0000 0000 0004').first().waitFor()
    expect(await clicks()).toBe(3)
    await page.goBack()
    await page.getByRole('button', { name: 'False alarm' }).click()
    const offer = page.getByRole('dialog')
    await offer.getByText(/^It would have covered 1 of 3 unsafe scores of the last 30 days\.$/).waitFor()
    await expectAccessible(page)
    await offer.getByRole('button', { name: 'Suppress' }).click()
    await offer.getByText('Say why it is a false alarm').waitFor()
    await offer.getByLabel('Reason').fill('The card of our tests.')
    await offer.getByRole('button', { name: 'Suppress' }).click()
    await offer.waitFor({ state: 'detached' })
    const history = page.getByRole('region', { name: 'History' })
    await history.getByText('Open → False alarm').waitFor()
    // Of the six, one is the refused one without a reason.
    expect(await clicks()).toBe(6)
    const { read, record } = fixture()
    const recordAgain = async () => {
      const id = await record({ ...leaks('5500 0000 0000 0004'), agent_name: 'desk-one' }, project)
      const { items } = await read(`/api/safety-scores?project_id=${project.id}&request_id=${id}`)
      return (items as { suppressed_by: string | null }[]).some((score) => score.suppressed_by !== null)
    }
    // Sinks take up a new suppression within seconds: calls are recorded until one is marked.
    await until(recordAgain)
    const countOf = async () =>
      (await read(`/api/findings/${idIn(finding)}?project_id=${project.id}`))['count']
    const before = await countOf()
    expect([await recordAgain(), await countOf()]).toEqual([true, before])
    await history.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Undone.').waitFor()
    await history.getByText('False alarm → Open').waitFor()
    await page.getByLabel('Comment', { exact: true }).fill('The card of our tests, again.')
    await page.getByRole('button', { name: 'Comment' }).click()
    await page.getByRole('region', { name: 'Comments' }).getByText('of our tests, again').waitFor()
    await expectAccessible(page)
  })

  test('a viewer reads findings and rules, and is offered nothing; an administrator sees every project', async () => {
    const { system, signIn, admin } = fixture()
    const password = 'the password of vic'
    const person = { login: 'vic', name: 'Vic', role: 'viewer', project_ids: [project.id], password }
    expect((await system.call('POST', '/api/people', person)).status).toBe(201)
    const { page, context } = await signIn('vic', password)
    await page.setViewportSize({ width: 390, height: 844 })
    await goTo(page, `/findings?project=${project.id}&state=all`, 'Findings')
    await until(async () => (await rows(page).count()) === 3)
    await expectAccessible(page)
    expect(await page.getByRole('checkbox').count()).toBe(0)
    await page.keyboard.press('j')
    await page.keyboard.press('e')
    await page.keyboard.press('Enter')
    await page.getByRole('region', { name: 'Comments' }).waitFor()
    await expectAccessible(page)
    for (const name of ['Actions', 'Projects'])
      expect(await page.getByRole('group', { name }).count()).toBe(0)
    for (const name of ['Comment', 'Undo']) expect(await page.getByRole('button', { name }).count()).toBe(0)
    await goTo(page, `/alert-rules?project=${project.id}`, 'Alert rules')
    expect(await page.getByRole('button', { name: 'New rule' }).count()).toBe(0)
    await expectAccessible(page)
    await context.close()

    const seen = admin.page
    await goTo(seen, `/findings?project=${fixture().project.id}&state=all`, 'Findings')
    await until(async () => (await rows(seen).count()) === 0)
    await seen.getByText('All projects').click()
    await until(async () => (await rows(seen).count()) === 3)
    await rows(seen).filter({ hasText: 'Help desk' }).first().waitFor()
    await rows(seen).first().getByRole('link').click()
    await seen.waitForURL(`**project=${project.id}*`)
  })

  test('a rule is tried, made, switched off, changed and deleted', async () => {
    const { page } = analyst
    await goTo(page, `/alert-rules?project=${project.id}`, 'Alert rules')
    await page.getByRole('button', { name: 'New rule' }).click()
    const form = page.getByRole('dialog')
    await form.getByLabel('Alert (%)').waitFor()
    await form.getByRole('combobox', { name: 'Metric' }).click()
    await page.getByRole('option', { name: 'Calls', exact: true }).click()
    await form.getByRole('combobox', { name: 'Fires when the value is' }).click()
    await page.getByRole('option', { name: 'Below the threshold' }).click()
    await form.getByLabel('Agent').fill('no-such-agent')
    await form.getByLabel('Window (min)').fill('60')
    await form.getByRole('button', { name: 'Try on the last 30 days' }).click()
    await form.getByText('Enter the threshold').waitFor()
    await form.getByLabel('Alert (calls)').fill('1')
    await form.getByLabel('Warning (calls)').fill('0')
    await form.getByRole('button', { name: 'Try on the last 30 days' }).click()
    // The API's own words, at the field.
    await form.getByText('must be above alert_threshold, which is worse').first().waitFor()
    await form.getByLabel('Warning (calls)').fill('')
    await form.getByRole('button', { name: 'Try on the last 30 days' }).click()
    await form.getByText(/^It would have fired 1 time in 7\d\d hours/).waitFor()
    await form.getByRole('table', { name: 'Dry run' }).getByText('alert', { exact: true }).waitFor()
    await expectAccessible(page)
    await form.getByRole('button', { name: 'Save' }).click()
    await form.getByText('Enter a name').waitFor()
    await form.getByLabel('Name').fill('Nobody calls')
    await form.getByRole('button', { name: 'Save' }).click()
    await form.waitFor({ state: 'detached' })
    const row = page
      .getByRole('table', { name: 'Alert rules' })
      .getByRole('row')
      .filter({ hasText: 'Nobody' })
    await row.getByText('Calls of 1 h below 1 · Agent: no-such-agent').waitFor()
    await expectAccessible(page)
    await row.getByRole('switch').press('Space')
    await row.getByText('Disabled').waitFor()
    await row.getByRole('button', { name: 'Edit Nobody calls' }).click()
    await form.getByRole('combobox', { name: 'Metric' }).click()
    await page.getByRole('option', { name: 'Failed share' }).click()
    await form.getByLabel('Alert (%)').fill('2.5')
    await form.getByRole('button', { name: 'Save' }).click()
    await row.getByText('Failed share of 1 h below 2.5% · Agent: no-such-agent').waitFor()
    await row.getByRole('button', { name: 'Delete Nobody calls' }).click()
    await confirm(page, 'Delete')
    await page.getByText('No alert rules yet').waitFor()
  })
}

const idIn = (address: string) => new URL(address).pathname.split('/').at(-1) ?? ''

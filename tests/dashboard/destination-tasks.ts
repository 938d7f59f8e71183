import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { systemClock } from '#runtime/clock.ts'
import { parseConfig } from '#runtime/config.ts'
import { createMetrics } from '#runtime/metrics.ts'
import type { Service } from '#runtime/service.ts'
import { notifierConfig } from '#services/notifier/config.ts'
import { createNotifier } from '#services/notifier/service.ts'
import { silentLog } from '#tests/support/service-fixture.ts'
import { until } from '#tests/support/until.ts'
import { confirm, countClicks, expectAccessible, goTo, shown, type TaskFixture } from './task-fixture.ts'

const token = 'a-token-that-nobody-sees'

/** Where events go, with a notifier and a receiver of our own. */
export function destinationTasks(fixture: () => TaskFixture): void {
  let notifier: Service

  beforeAll(async () => {
    const { environment } = fixture().system
    const parsed = parseConfig(notifierConfig, { ...environment, ...fixture().receiver.environment })
    if (!parsed.ok) throw new Error(parsed.problems.join('; '))
    notifier = createNotifier(parsed.value, { log: silentLog, metrics: createMetrics(), clock: systemClock })
    await notifier.start()
  })
  afterAll(() => notifier.stop())

  test('a destination is added, tested, seen to fail, mended, and sent to again', async () => {
    const { admin, system, receiver } = fixture()
    const project = await system.createProject({ name: 'Receivers', tier: 'team' })
    const { page } = admin
    const { web } = receiver
    web.answers.set('/hec', () => ({ status: 403, body: { text: 'Invalid token', code: 4 } }))
    await goTo(page, `/settings/destinations?project=${project.id}`, 'Destinations')
    let clicks = await countClicks(page)
    await page.getByRole('button', { name: 'Add destination' }).click()
    const form = page.getByRole('dialog')
    await form.getByLabel('Incoming webhook URL').waitFor()
    await form.getByRole('combobox', { name: 'Kind' }).click()
    await page.getByRole('option', { name: 'Splunk HEC' }).click()
    await form.getByLabel('Collector').fill('http://10.0.0.9/services/collector/event')
    await form.getByLabel('Token').fill(token)
    await form.getByRole('button', { name: 'Save' }).click()
    await form
      .getByText(/must start with https/)
      .first()
      .waitFor()
    await expectAccessible(page)
    await form.getByLabel('Collector').fill(web.url('/hec'))
    await form.getByRole('button', { name: 'Save' }).click()
    await form.waitFor({ state: 'detached' })
    const row = page.getByRole('row').filter({ hasText: web.url('/hec') })
    await row.getByText('None yet').waitFor()
    expect(await page.evaluate<string>('JSON.stringify(sessionStorage)')).not.toContain(token)

    await row.getByRole('button', { name: /^Actions for Splunk HEC/ }).click()
    await page.getByRole('menuitem', { name: 'Send Test Event' }).click()
    await page.getByText('The test event was not delivered: status 403. It will be tried again.').waitFor()
    // Of the seven, one is the refused one.
    expect(await clicks()).toBe(7)
    await page.reload()
    await row.getByText('1 of 1 deliveries of the last day failed').waitFor()
    await row.getByText('100%').waitFor()
    await expectAccessible(page)

    // Home says that it fails, and leads to its log; the first failure names the receiver's own answer.
    await goTo(page, `/?project=${project.id}`, 'Home')
    const delivery = page.getByRole('group', { name: 'Delivery' })
    await delivery.getByText('failed in a day: splunk_hec 1 of 1').waitFor()
    clicks = await countClicks(page)
    await delivery.getByRole('link', { name: '1 fails' }).click()
    await shown(page, 'Delivery log')
    const log = page.getByRole('table', { name: 'Deliveries' })
    await log.getByRole('button', { name: 'Attempts' }).click()
    await log
      .getByText(/Invalid token/)
      .first()
      .waitFor()
    web.answers.delete('/hec')
    // It is tried again by itself, and what has arrived can be sent once more.
    await log.getByText('delivered', { exact: true }).waitFor()
    await log.getByRole('button', { name: 'Resend' }).click()
    await page.getByText('Resent with the same id.').waitFor()
    expect(await clicks()).toBe(3)
    await until(() => Promise.resolve(web.at('/hec').length >= 3))
    const sent = web.at('/hec').map(({ headers }) => headers.authorization)
    expect(new Set(sent)).toEqual(new Set([`Splunk ${token}`]))

    await goTo(page, `/settings/destinations?project=${project.id}`, 'Destinations')
    await row.getByRole('button', { name: /^Actions for/ }).click()
    await page.getByRole('menuitem', { name: 'Edit' }).click()
    // It stays unless one is typed.
    expect(await form.getByLabel('Token').inputValue()).toBe('')
    await form.getByLabel('Index').fill('llm')
    await form.getByRole('button', { name: 'Save' }).click()
    await form.waitFor({ state: 'detached' })
    await row.getByRole('switch').press('Space')
    await page.getByText('The destination is disabled.').waitFor()
    await row.getByRole('button', { name: /^Actions for/ }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await confirm(page, 'Delete')
    await page.getByText('No destinations yet').waitFor()
  })
}

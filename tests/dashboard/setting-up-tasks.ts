import { expect, test } from '@jest/globals'
import type { Page } from 'playwright-core'
import type { VisitedPage } from '#tests/support/dashboard-site.ts'
import { until } from '#tests/support/until.ts'
import { confirm, countClicks, expectAccessible, goTo, type TaskFixture } from './task-fixture.ts'

/** Projects and settings, billing, people, and the audit log. */
export function settingUpTasks(fixture: () => TaskFixture): void {
  test('a project is created, can be switched to, and is set up', async () => {
    const { admin, read } = fixture()
    const { page } = admin
    await goTo(page, '/settings/projects', 'Projects')
    await page.getByRole('button', { name: 'Create project' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click()
    await page.getByRole('dialog').getByText('Enter a name').waitFor()
    await page.getByRole('dialog').getByLabel('Name').fill('Back office')
    await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click()
    await page.getByRole('table', { name: 'Projects' }).getByRole('link', { name: 'Back office' }).click()
    await page.getByRole('heading', { level: 1, name: 'Project settings' }).waitFor()
    const id = new URL(page.url()).searchParams.get('project') ?? ''
    expect(await page.getByRole('combobox', { name: 'Project', exact: true }).inputValue()).toBe(
      'Back office',
    )

    // Above the maximum: clamped.
    await page.getByLabel('Days to keep prompts and answers').fill('300')
    await page.getByRole('combobox', { name: 'Use of the judge' }).click()
    await page.getByRole('option', { name: /not sure/ }).click()
    await page.getByLabel('Budget per period, USD').fill('12.50')
    await page.getByRole('button', { name: 'Sample a scorer' }).click()
    await page.getByLabel('Scorer').fill('hallucination')
    await page.getByLabel('Percent of calls').fill('7')
    await page.getByLabel(/cost per period/).fill('250')
    await page.getByLabel(/quota usage/).fill('100')
    await page.getByRole('switch', { name: /^Zero content retention/ }).check()
    await page.getByRole('button', { name: 'Save' }).click()
    await confirm(page, 'Enable')
    await page.getByText('The settings are saved.').waitFor()
    expect(await read(`/api/projects/${id}`)).toMatchObject({
      retention_days: 90,
      zero_content_retention: true,
      judge_mode: 'uncertain',
      judge_usd_per_period: 12.5,
      sampling: { hallucination: 0.07 },
      cost_alert_usd: 250,
      quota_warning_percent: 100,
    })
    expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true)
  })

  test('an empty project gives a key and an example, and turns to its first call', async () => {
    const { admin, system } = fixture()
    const { page } = admin
    const { id } = await system.createProject({ name: 'Empty shop', tier: 'team' })
    await goTo(page, `/?project=${id}`, 'Home')
    const first = page.getByRole('region', { name: 'First call' })
    await first.getByText('Waiting for the first call…').waitFor()
    const clicks = await countClicks(page)
    await first.getByRole('button', { name: 'Create an API key' }).click()
    const key = await first.getByText(/^svc_/).innerText()
    await first.getByText(`Authorization: Bearer ${key}`).waitFor()
    await expectAccessible(page)
    const call = { model: 'gpt-4o', agent_name: 'first-agent', request_body: { messages: [] } }
    expect((await system.call('POST', '/internal/log', call, key)).status).toBe(202)
    await first.getByText('The first call has arrived').waitFor()
    await expectAccessible(page)
    await first.getByRole('link', { name: 'first-agent' }).click()
    await page.getByRole('table', { name: 'Facts' }).waitFor()
    expect(await clicks()).toBe(2)
    // The project last used is the one that opens.
    await goTo(page, '/', 'Home')
    expect(new URL(page.url()).searchParams.get('project')).toBe(id)
  })

  test('what is typed into forms is there again after a session that ended meanwhile', async () => {
    const { system, signIn, project, read } = fixture()
    const password = 'the password of oleg'
    const person = { login: 'oleg', name: 'Oleg', role: 'admin', project_ids: [], password }
    const made = await system.call('POST', '/api/people', person)
    const { page, context } = await signIn('oleg', password)
    const dialog = page.getByRole('dialog')
    const goOnAfterEnd = async () => {
      await system.call('DELETE', `/api/people/${String(made.json['id'])}/logins`)
      await page.getByRole('button', { name: 'Save' }).click()
      // Only the sign-in form has it; project forms also have a field Name.
      await page.getByLabel('Password', { exact: true }).fill(password)
      await page.getByLabel('Name').fill('oleg')
      await page.getByRole('button', { name: 'Sign in' }).click()
    }
    await goTo(page, `/settings/webhooks?project=${project.id}`, 'Webhooks')
    await page.getByRole('button', { name: 'Add webhook' }).click()
    await dialog.getByLabel('URL').fill('https://hooks.example.com/oleg')
    await dialog.getByLabel('Scorers').fill('pii_detection')
    await page.keyboard.press('Enter')
    await goOnAfterEnd()
    await dialog.getByText('pii_detection').waitFor()
    expect(await dialog.getByLabel('URL').inputValue()).toBe('https://hooks.example.com/oleg')
    // After cancelling nothing of it remains.
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Add webhook' }).click()
    expect(await dialog.getByLabel('URL').inputValue()).toBe('')
    await page.keyboard.press('Escape')

    await goTo(page, `/settings/project?project=${project.id}`, 'Project settings')
    await page.getByLabel(/quota usage/).fill('77')
    await goOnAfterEnd()
    expect(await page.getByLabel(/quota usage/).inputValue()).toBe('77')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The settings are saved.').waitFor()
    expect(await read(`/api/projects/${project.id}`)).toMatchObject({ quota_warning_percent: 77 })
    await goTo(page, `/settings/keys?project=${project.id}`, 'API keys')
    const kept = "Object.keys(sessionStorage).filter((key) => key.startsWith('sluice.draft.'))"
    expect(await page.evaluate(kept)).toEqual([])
    await context.close()
  })

  test('billing shows what is used, and leads to the payment provider', async () => {
    const { admin, payments, project, dashboard } = fixture()
    const { page } = admin
    await goTo(page, `/settings/billing?project=${project.id}`, 'Billing')
    await page.getByText(/^\d+ of 5,000,000$/).waitFor()
    await page.getByRole('table', { name: 'Spent by scorer' }).getByText('content_safety').waitFor()
    await page.getByRole('button', { name: 'Open the payment portal' }).click()
    await page
      .getByRole('alert')
      .getByText(/never subscribed/)
      .waitFor()
    await page.route('https://pay.example/**', (route) => route.fulfill({ body: 'the provider' }))
    await page.getByRole('button', { name: 'Check out' }).click()
    await page.waitForURL('https://pay.example/checkout')
    const here = `${dashboard.baseUrl}/settings/billing?project=${project.id}`
    expect(payments.asked.at(-1)?.form).toMatchObject({
      client_reference_id: project.id,
      'line_items[0][price]': 'price_pro',
      success_url: here,
      cancel_url: here,
    })
  })

  let ines: VisitedPage
  test('somebody is let in, and makes the password their own', async () => {
    const { admin, signIn } = fixture()
    const { page } = admin
    await goTo(page, '/settings/people', 'People')
    await page.getByRole('button', { name: 'Add person' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Login').fill('ines')
    await dialog.getByLabel('Name').fill('Ines Analyst')
    await dialog.getByRole('combobox', { name: 'Role' }).click()
    await page.getByRole('option', { name: /^Viewer/ }).click()
    await dialog.getByRole('combobox', { name: 'Projects' }).click()
    await page.getByRole('option', { name: 'Web shop' }).click()
    // The list of projects stays open for more choices.
    await page.keyboard.press('Tab')
    await expectAccessible(page)
    await dialog.getByRole('button', { name: 'Save' }).click()
    const password = await page.getByRole('status').locator('code').innerText()
    await page.reload()
    await rowOf(page, 'Ines Analyst').getByText('viewer').waitFor()
    expect(await page.getByText(password).count()).toBe(0)

    ines = await signIn('ines', password)
    await goTo(ines.page, '/settings/sessions', 'Your sessions')
    await ines.page.getByRole('button', { name: 'Change password' }).click()
    const form = ines.page.getByRole('dialog')
    await form.getByLabel('Current password').fill('not this one')
    await form.getByLabel('New password').fill('a password of my own')
    await form.getByRole('button', { name: 'Change', exact: true }).click()
    await form
      .getByRole('alert')
      .getByText(/is not your password/)
      .waitFor()
    await form.getByLabel('Current password').fill(password)
    await form.getByRole('button', { name: 'Change', exact: true }).click()
    await ines.page.getByText(/Your password is changed/).waitFor()
    await expect(signIn('ines', password)).rejects.toThrow('SIGN_IN_REFUSED')
  })

  test('somebody is given another role, and is shut out', async () => {
    const { admin, signIn } = fixture()
    const { page } = admin
    await goTo(page, '/settings/people', 'People')
    await goTo(ines.page, '/reviews', 'Reviews')
    expect(await ines.page.getByRole('combobox', { name: 'Project', exact: true }).inputValue()).toBe(
      'Web shop',
    )
    expect(await ines.page.getByText('Export cases').count()).toBe(0)

    const row = rowOf(page, 'Ines Analyst')
    await row.getByRole('button', { name: 'Actions for Ines Analyst' }).click()
    await page.getByRole('menuitem', { name: 'Edit' }).click()
    await page.getByRole('dialog').getByRole('combobox', { name: 'Role' }).click()
    await page.getByRole('option', { name: /^Analyst/ }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click()
    await row.getByText('analyst', { exact: true }).waitFor()
    await goTo(ines.page, '/reviews', 'Reviews')
    await ines.page.getByText('Export cases').waitFor()

    await row.getByRole('button', { name: 'Actions for Ines Analyst' }).click()
    await page.getByRole('menuitem', { name: 'Disable' }).click()
    await confirm(page, 'Disable')
    await row.getByText('Disabled').waitFor()
    await ines.page.getByRole('link', { name: 'Tools' }).click()
    await ines.page.getByRole('button', { name: 'Sign in' }).waitFor()
    await ines.context.close()
    await expect(signIn('ines', 'a password of my own')).rejects.toThrow('SIGN_IN_REFUSED')
  })

  test('the audit log says who did it, and is narrowed to one kind', async () => {
    const { page } = fixture().admin
    await goTo(page, '/settings/audit', 'Audit log')
    const log = page.getByRole('table', { name: 'Audit log' })
    await log.getByRole('button', { name: 'created a person' }).first().click()
    await page.waitForURL('**/settings/audit?*action=person.created*')
    // The previous rows stay until the new ones arrive.
    await until(async () => (await log.getByRole('button', { name: 'changed a person' }).count()) === 0)
    const row = log.getByRole('row').filter({ hasText: 'ines' })
    await row.getByText('role: viewer').waitFor()
    expect(await row.innerText()).toMatch(/admin/i)
    await page.getByRole('button', { name: 'Remove the filter on action' }).click()
    // What was before, and what is now.
    const changed = log.getByRole('row').filter({ hasText: 'changed a person' })
    await changed.getByText('role: viewer → analyst').waitFor()
    await log.getByRole('button', { name: 'created a project' }).first().waitFor()
  })
}

function rowOf(page: Page, name: string) {
  return page.getByRole('row').filter({ hasText: name })
}

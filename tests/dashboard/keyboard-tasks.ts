import { expect, test } from '@jest/globals'
import type { Locator, Page } from 'playwright-core'
import { until } from '#tests/support/until.ts'
import { expectAccessible, goTo, shown, type TaskFixture } from './task-fixture.ts'

/** Where keyboard focus is after the focused element has gone. */
export function keyboardTasks(fixture: () => TaskFixture): void {
  test('past the navigation, through dialogs and menus and back to where they were opened', async () => {
    const { admin, project, system } = fixture()
    const { page } = admin
    const body = { url: 'https://receiver.example.com/keys', events: ['threat_detected'] }
    await system.call('POST', `/api/v1/webhooks?project_id=${project.id}`, body)
    await goTo(page, `/settings/webhooks?project=${project.id}`, 'Webhooks')
    await press(page, 'Tab', 'Enter', 'Tab')
    const add = page.getByRole('button', { name: 'Add webhook' })
    await isFocused(add)
    const dialog = page.getByRole('dialog')
    await press(page, 'Enter')
    await isFocused(dialog.getByLabel('URL'))
    await press(page, 'Escape')
    await isFocused(add)

    const actions = page.getByRole('button', { name: `Actions for ${body.url}` })
    await actions.focus()
    for (const [item, answer] of [
      ['Edit', 'Save'],
      ['Delete', 'Go back'],
    ] as const) {
      await press(page, 'Enter')
      await page.getByRole('menuitem', { name: item }).focus()
      await press(page, 'Enter')
      await dialog.getByRole('button', { name: answer }).waitFor()
      // Before the dialog has focus, Escape still goes to the menu.
      await isFocused(dialog, ':focus-within')
      await press(page, 'Escape')
      await dialog.waitFor({ state: 'detached' })
      await isFocused(actions)
    }
  })

  test('to a page, and to a project, by their names', async () => {
    const { admin, project } = fixture()
    const { page } = admin
    await goTo(page, `/tools?project=${project.id}`, 'Tools')
    await press(page, 'Control+k')
    const palette = page.getByRole('dialog', { name: 'Go to' })
    await isFocused(palette.getByLabel('Page, project or id'))
    await expectAccessible(page)
    await page.keyboard.type('alert r')
    await palette.getByRole('option', { name: 'Alert rules' }).waitFor()
    await press(page, 'Enter')
    await shown(page, 'Alert rules')
    await press(page, 'Control+k')
    await page.keyboard.type('web sh')
    await press(page, 'ArrowDown', 'Enter')
    await shown(page, 'Home')
    expect(new URL(page.url()).searchParams.get('project')).toBe(project.id)
  })

  test('into the first field that takes anything', async () => {
    const { page } = fixture().admin
    await goTo(page, '/settings/people', 'People')
    await page.getByRole('button', { name: 'Actions for Administrator' }).focus()
    await press(page, 'Enter')
    await page.getByRole('menuitem', { name: 'Edit' }).focus()
    await press(page, 'Enter')
    // The login name remains.
    await isFocused(page.getByRole('dialog').getByLabel('Name'))
    await press(page, 'Escape')
  })

  test('on a button that was refused, at a table whose row is gone, and on the page that was gone to', async () => {
    const { admin, project, system } = fixture()
    const { page } = admin
    await goTo(page, `/runs?project=${project.id}`, 'Red team')
    await page.getByRole('button', { name: 'Attack an agent' }).focus()
    await press(page, 'Enter')
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Agent').fill('by keys')
    await dialog.getByLabel('Chat-completions URL').fill('https://agent.example.com/v1')
    const attack = dialog.getByRole('button', { name: 'Attack' })
    await attack.focus()
    await press(page, 'Enter')
    await dialog.getByRole('alert').waitFor()
    await isFocused(attack)
    await press(page, 'Escape')

    await system.call('POST', `/api/projects/${project.id}/keys`, { name: 'of one day' })
    await goTo(page, `/settings/keys?project=${project.id}`, 'API keys')
    await page.getByRole('button', { name: 'Revoke of one day' }).focus()
    await press(page, 'Enter')
    await dialog.getByRole('button', { name: 'Revoke' }).focus()
    await press(page, 'Enter')
    await page.getByText('of one day', { exact: true }).waitFor({ state: 'detached' })
    await until(() => page.evaluate<boolean>("document.activeElement?.querySelector('table') !== null"))

    await page.getByRole('link', { name: 'Sessions' }).focus()
    await press(page, 'Enter')
    await page.getByRole('heading', { level: 1, name: 'Sessions' }).waitFor()
    await press(page, 'Tab')
    await isFocused(page.getByRole('button', { name: 'Refresh' }))
    // After a click elsewhere it is not refocused when content arrives.
    await page.getByRole('navigation', { name: 'Main' }).getByText('Sluice', { exact: true }).click()
    await press(page, 'PageDown')
    await page.evaluate('document.body.append("")')
    expect(await page.evaluate('document.activeElement === document.body')).toBe(true)
  })
}

async function press(page: Page, ...keys: string[]): Promise<void> {
  for (const key of keys) await page.keyboard.press(key)
}

function isFocused(locator: Locator, selector = ':focus'): Promise<void> {
  return until(() =>
    locator.evaluate(
      (element: { matches: (selector: string) => boolean }, wanted: string) => element.matches(wanted),
      selector,
    ),
  )
}

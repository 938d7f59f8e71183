import { beforeAll, expect, test } from '@jest/globals'
import type { Locator } from 'playwright-core'
import { expectAccessible, goTo, type TaskFixture } from './task-fixture.ts'

const secret = 'sk-live-4eC39HqLyjWDarjtT1zdp7dc'

/** Words in what was said. */
export function searchTasks(fixture: () => TaskFixture): void {
  let project: TaskFixture['project']

  beforeAll(async () => {
    const { system, record } = fixture()
    project = await system.createProject({ name: 'Keys', tier: 'team' })
    const call = (user_id: string, content: string) =>
      record({ model: 'gpt-4o', user_id, request_body: { messages: [{ role: 'user', content }] } }, project)
    await Promise.all([call('ada', 'How do I rotate a key?'), call('bob', `Why is ${secret} refused?`)])
  })

  test('who pasted this key takes two clicks, the call a third', async () => {
    const { page } = fixture().admin
    let clicks = 0
    const click = async (target: Locator) => {
      clicks++
      await target.click()
    }
    await goTo(page, `/requests?project=${project.id}`, 'Requests')
    await click(page.getByRole('link', { name: 'Search', exact: true }))
    await page.getByRole('heading', { level: 1, name: 'Search' }).waitFor()
    await page.getByRole('textbox', { name: /^Words/ }).fill(secret)
    await click(page.getByRole('button', { name: 'Search' }))
    const found = page.getByRole('list', { name: 'Found calls' }).getByRole('listitem')
    await found.getByText('bob').waitFor()
    expect([clicks, await found.count()]).toEqual([2, 1])
    expect(await found.locator('mark').allInnerTexts()).toEqual([secret])
    await page.getByText(/^1 found\. /).waitFor()
    // The key is in no address.
    expect(page.url()).not.toContain('sk-live')
    // Off the button, whose colours change under the pointer.
    await found.hover()
    await expectAccessible(page)
    await click(found.getByRole('link'))
    await page.getByRole('table', { name: 'Facts' }).getByText('bob').waitFor()
    expect(clicks).toBe(3)
    await page.goBack()
    await found.getByText('bob').waitFor()
  })

  test('filters come along from the list, and what is not there is said', async () => {
    const { page } = fixture().admin
    await goTo(page, `/requests?project=${project.id}&user_id=ada`, 'Requests')
    await page.getByRole('link', { name: 'Search texts' }).click()
    await page.getByText('User: ada').waitFor()
    await page.getByRole('textbox', { name: /^Words/ }).fill(secret)
    await page.keyboard.press('Enter')
    await page.getByText('No call has these words').waitFor()
  })
}

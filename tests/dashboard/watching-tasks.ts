import { beforeAll, expect, test } from '@jest/globals'
import { readFile } from 'node:fs/promises'
import { startRedteamTarget, type RedteamTarget } from '#tests/support/redteam-target.ts'
import { until } from '#tests/support/until.ts'
import { newId } from '#schemas/ids.ts'
import { countClicks, expectAccessible, goTo, type TaskFixture } from './task-fixture.ts'

const agent = 'order-agent'
/** Contains characters with a meaning in URLs. */
const session = 'SHOP\\conversation-4711'
const said = (content: string) => ({ choices: [{ index: 0, message: { role: 'assistant', content } }] })
const asked = (content: string) => ({ model: 'gpt-4o', messages: [{ role: 'user', content }] })
const common = { agent_name: agent, agent_tag: 'v2', session_id: session, model: 'gpt-4o', latency_ms: 420 }

/** Sessions, tools and red-team results. */
export function watchingTasks(fixture: () => TaskFixture): void {
  beforeAll(async () => {
    const { record } = fixture()
    const at = (secondsAgo: number) => ({ ...common, id: newId('request', Date.now() - secondsAgo * 1_000) })
    const [question, answer] = ['Where is my order?', '**On its way**, with:\n- one lamp']
    const history = [
      { role: 'user', content: question },
      { role: 'assistant', content: answer },
    ]
    await Promise.all([
      record({ ...at(60), request_body: asked(question), response_body: said(answer) }),
      record({
        ...at(50),
        request_body: { type: 'mcp_tool_call', tool_name: 'refund_payment', arguments: { order: 4711 } },
        response_body: { refunded: true },
      }),
      record({
        ...at(2),
        request_body: {
          model: 'gpt-4o',
          messages: [...history, { role: 'user', content: 'Who ordered it?' }],
        },
        response_body: said('Jane Example, jane.example@gmail.com, card 4111 1111 1111 1111.'),
      }),
    ])
  })

  test('an agent’s session is read in one click from its list, and leads to its calls', async () => {
    const { admin, project } = fixture()
    const { page } = admin
    await goTo(page, `/sessions?project=${project.id}`, 'Sessions')
    const row = page.getByRole('row').filter({ hasText: session })
    expect((await row.getByRole('cell').allInnerTexts()).slice(2, 7)).toEqual([
      expect.stringMatching(new RegExp(agent, 'i')),
      '3',
      '1',
      '0',
      '1',
    ])
    await page.getByRole('textbox', { name: 'Filter by agent' }).fill('no-such-agent')
    await page.keyboard.press('Enter')
    await page.getByText('No sessions in this range').waitFor()
    await page.getByRole('button', { name: 'Remove the filter on agent' }).click()
    const clicks = await countClicks(page)
    // One click reads it all: what was said, the tool's arguments and its result, without what is repeated.
    await row.getByRole('link').click()
    await page.getByRole('heading', { level: 1, name: session }).waitFor()
    const calls = page.getByRole('list', { name: 'Calls' })
    for (const text of ['Where is my order?', 'On its way', 'one lamp', '4711', 'Who ordered it?'])
      await calls.getByText(text, { exact: true }).waitFor()
    await calls.getByText('refunded').waitFor()
    await calls.getByRole('button', { name: 'Show 2 repeated messages' }).waitFor()
    expect(await clicks()).toBe(1)
    await expectAccessible(page)
    await page
      .getByRole('list', { name: 'Waterfall' })
      .getByText(/, after /)
      .first()
      .waitFor()
    for (const text of ['3 calls', '1 of tools', '1 unsafe'])
      await page.getByText(text, { exact: true }).waitFor()
    await page.getByText(/^pii_detection:/).waitFor()
    await calls.getByRole('link', { name: 'refund_payment' }).click()
    await page.getByText('4711').first().waitFor()
    await page.getByRole('table', { name: 'Facts' }).getByText('v2', { exact: true }).waitFor()
    await page.getByText('No threat').or(page.getByText('pii_detection')).first().waitFor()
  })

  test.each([
    ['thousandths of a cent', 0.00089, /^US\$0\.00089$/],
    ['a million', 1_000_000.01, /^US\$1m$/i],
  ])('a cost of %s stays in its tile', async (_name, cost, text) => {
    const { page } = fixture().admin
    const asked = '**/bff/api/stats?*'
    await page.route(asked, async (route) => {
      const response = await route.fetch()
      const json = (await response.json()) as { series: { total: object }[] }
      for (const { total } of json.series) if ('cost_usd' in total) total.cost_usd = cost
      return route.fulfill({ response, json })
    })
    const tile = page.getByRole('group', { name: 'Cost', exact: true }).first()
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 720 })
      await goTo(page, `/?project=${fixture().project.id}`, 'Home')
      await tile.getByText(text).waitFor()
      const beyond = (it: { scrollWidth: number; clientWidth: number }) => it.scrollWidth - it.clientWidth
      expect(await tile.evaluate(beyond)).toBe(0)
    }
    await page.unroute(asked)
  })

  test('a tool that is new is marked, and leads to its calls', async () => {
    const { admin, project } = fixture()
    const { page } = admin
    await goTo(page, `/tools?project=${project.id}`, 'Tools')
    const row = page.getByRole('row').filter({ hasText: 'refund_payment' })
    await row.getByText('New', { exact: true }).waitFor()
    expect((await row.getByRole('cell').allInnerTexts()).slice(3, 6)).toEqual(['1', '0%', '0'])
    await row.getByRole('link', { name: 'refund_payment' }).click()
    await page.getByRole('heading', { level: 1, name: 'Requests' }).waitFor()
    await page
      .getByRole('link', { name: /\d:\d\d/ })
      .first()
      .waitFor()
    expect(await page.locator('tr[data-index]').count()).toBe(1)
  })

  test('an agent is attacked, watched until it is judged, and compared with a hardened one', async () => {
    const { admin, project, system, read } = fixture()
    const { page } = admin
    const [weak, hardened] = await Promise.all([
      startRedteamTarget({ manner: 'weak' }),
      startRedteamTarget({ manner: 'hardened' }),
    ])
    const redteam = await system.startRedteam()
    const earlier = await orderAttack(fixture(), hardened)

    await goTo(page, `/runs?project=${project.id}`, 'Red team')
    await page.getByRole('button', { name: 'Attack an agent' }).click()
    const dialog = page.getByRole('dialog')
    // The longest form: its button is in sight all the same.
    await dialog.getByText('Other JSON').click()
    await dialog.getByLabel('Answer').waitFor()
    await expectAccessible(page)
    const button = await dialog.getByRole('button', { name: 'Attack' }).boundingBox()
    expect((button?.y ?? Infinity) + (button?.height ?? 0)).toBeLessThanOrEqual(
      page.viewportSize()?.height ?? 0,
    )
    await dialog.getByText('Chat completions', { exact: true }).click()
    await dialog.getByLabel('Agent').fill(agent)
    await dialog.getByLabel('Chat-completions URL').fill('https://agent.example.com/v1')
    await dialog.getByRole('checkbox', { name: 'Role play' }).check()
    await dialog.getByLabel('Maximum attacks').fill('10')
    await dialog.getByRole('button', { name: 'Attack' }).click()
    await dialog
      .getByText(/REDTEAM_ALLOWED_HOSTS/)
      .last()
      .waitFor()
    await dialog.getByLabel('Chat-completions URL').fill(weak.url)
    await dialog.getByRole('button', { name: 'Attack' }).click()

    await page.getByRole('heading', { level: 1, name: 'Red-team run' }).waitFor()
    const ordered = await read(`/api/redteam-runs/${new URL(page.url()).pathname.split('/').at(-1)}`)
    expect(ordered['options']).toMatchObject({ transformations: ['plain', 'role_play'] })
    await until(async () => (await read(`/api/redteam-runs/${earlier}`))['status'] === 'done', 120_000)
    await page.getByText('done', { exact: true }).waitFor()
    await page.getByText(/^10 of 10 sent/).waitFor()
    const attacks = page.getByRole('table', { name: 'Attacks' })
    await attacks.getByRole('link').first().waitFor()

    await page.getByRole('combobox', { name: 'Compare with' }).click()
    await page.getByRole('option').first().click()
    await page.getByRole('columnheader', { name: 'The other run' }).waitFor()
    const report = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Report' }).click()
    expect(await readFile(await (await report).path(), 'utf8')).toContain(agent)
    await attacks.getByRole('link').first().click()
    await page.getByText('redteam', { exact: true }).first().waitFor()
    // Lists exclude probes, so links from a probe select their source.
    await page.getByRole('table', { name: 'Facts' }).getByRole('link', { name: agent, exact: true }).click()
    await page.locator('tr[data-index]').first().waitFor()
    expect(new URL(page.url()).searchParams.get('source')).toBe('redteam')

    await redteam.stop()
    await Promise.all([weak.stop(), hardened.stop()])
  })
}

async function orderAttack({ system, project }: TaskFixture, target: RedteamTarget): Promise<string> {
  const { json, status, text } = await system.call('POST', '/api/redteam-runs', {
    project_id: project.id,
    agent_name: agent,
    target: { kind: 'chat', url: target.url },
    options: { limit: 10, concurrency: 8 },
  })
  expect([status, text]).toEqual([201, text])
  return String(json['id'])
}

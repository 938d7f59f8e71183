import { expect } from '@jest/globals'
import type { Page } from 'playwright-core'
import { openWeb } from '#services/notifier/testing/destination-receivers.ts'
import { setRedteamFixture, type RedteamFixture } from '#services/redteam/testing/redteam-fixture.ts'
import {
  openDashboard,
  seriousFindings,
  type OpenDashboard,
  type VisitedPage,
} from '#tests/support/dashboard-site.ts'
import { startMockPaymentProvider, type MockPaymentProvider } from '#tests/support/mock-payment-provider.ts'
import { startWithUndo, type Undo } from '#tests/support/undo.ts'
import { until } from '#tests/support/until.ts'

/** The dashboard in a browser, with API, sink, scorer and red team behind it. */
export interface TaskFixture extends OpenDashboard {
  system: RedteamFixture
  payments: MockPaymentProvider
  /** What destinations may reach, and the variables that say so. */
  receiver: { web: Awaited<ReturnType<typeof openWeb>>; environment: Readonly<Record<string, string>> }
  project: FixtureProject
  admin: VisitedPage
  /** The API's answer to the operator. */
  read: (path: string) => Promise<Record<string, unknown>>
  /** Logs a call; resolves to its id once it has scores. */
  record: (call: object, project?: FixtureProject) => Promise<string>
}

interface FixtureProject {
  id: string
  key: string
}

export function setTaskFixture(): Promise<TaskFixture> {
  return startWithUndo(setParts)
}

async function setParts(undo: Undo): Promise<Omit<TaskFixture, 'stop'>> {
  const payments = await startMockPaymentProvider()
  undo.push(() => payments.stop())
  const web = await openWeb()
  undo.push(() => web.close())
  const receiver = { web, environment: { DESTINATION_ALLOW: `plain:127.0.0.1:${web.port}` } }
  const system = await setRedteamFixture({
    apiEnvironment: {
      ...receiver.environment,
      SEARCH_KEY: `s1:${Buffer.alloc(32, 3).toString('base64')}`,
      STRIPE_API_KEY: 'sk_test_123',
      STRIPE_API_BASE: payments.url,
      STRIPE_PRICES: 'pro:price_pro,team:price_team',
    },
  })
  undo.push(() => system.close())
  const opened = await openDashboard(String(system.environment['API_BACKEND_URL']))
  undo.push(() => opened.stop())
  const project = await system.createProject({ name: 'Web shop', tier: 'team' })
  const read = async (path: string) => (await system.call('GET', path)).json
  return {
    ...opened,
    system,
    payments,
    receiver,
    project,
    admin: await opened.signIn(),
    read,
    async record(call, of = project) {
      const { status, text, json } = await system.call('POST', '/internal/log', call, of.key)
      if (status !== 202) throw new Error(`not logged: ${status} ${text}`)
      const id = String(json['id'])
      const scores = `/api/safety-scores?project_id=${of.id}&request_id=${id}`
      await until(async () => Number((await read(scores))['total']) > 0)
      return id
    },
  }
}

/** Opens a page by its address and waits until its content is loaded. */
export async function goTo(page: Page, path: string, title: string | RegExp): Promise<void> {
  await page.goto(path)
  await shown(page, title)
}

/** Waits until a page's content is loaded. */
export async function shown(page: Page, title: string | RegExp): Promise<void> {
  await page.getByRole('heading', { level: 1, name: title }).waitFor()
  await until(async () => (await page.getByRole('status', { name: 'Loading' }).count()) === 0)
}

/** Checks the current page with axe-core, for dialogs without an address. */
export async function expectAccessible(page: Page): Promise<void> {
  expect(await seriousFindings(page)).toEqual([])
}

/** Counts the clicks on a page from now on, until it is reloaded. Returns a function that reads the count. */
export async function countClicks(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(
    "globalThis.clicks = 0; addEventListener('pointerdown', () => globalThis.clicks++, true)",
  )
  return () => page.evaluate<number>('globalThis.clicks')
}

/** Confirms a dialog. */
export async function confirm(page: Page, answer: string): Promise<void> {
  await page.getByRole('dialog').getByRole('button', { name: answer }).click()
}

import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core'
import { createSealer } from '#runtime/sealing.ts'
import { ensureClient } from '#scripts/stack/ensure-client.ts'
import { browserArguments, findBrowser } from './find-browser.ts'
import { seedRequest } from './seed-requests.ts'
import { startApi, type RunningApi } from './start-api.ts'
import { adminPassword, startDashboard, type RunningDashboard } from './start-dashboard.ts'

/** Would act, hide or turn round what stands beside it, were it more than text. */
export const hostileText = [
  '"><img src=x onerror="window.__ran=1">',
  '<script>window.__ran=1</script>',
  '[a](javascript:window.__ran=1)',
  '\u202Eover\u202C \u200Bhidden \u001B[31mred\u001B[0m',
  '{{constructor.constructor("window.__ran=1")()}}',
].join(' ')

/** Stands in the body of the hostile request and nowhere else. */
export const onlyInBody = 'said in confidence'

export interface DashboardSite {
  api: RunningApi
  dashboard: RunningDashboard
  browser: Browser
  projectId: string
  /** Identifier of a request of which every text is hostile. */
  requestId: string
  /** A new browser profile, signed in. */
  signIn(name?: string, password?: string, theme?: 'light' | 'dark'): Promise<VisitedPage>
  stop(): Promise<void>
}

export interface VisitedPage {
  page: Page
  context: BrowserContext
  /** What no page may do: run what somebody wrote, ask another host, break the content policy. */
  offences: string[]
}

/** The built client before the real API and a real browser, with a project whose every text is hostile. */
export async function startDashboardSite(): Promise<DashboardSite> {
  await ensureClient(console.log)
  const api = await startApi()
  const { projectId } = await api.createProject({ name: 'Checkout' })
  const requestId = await seedHostileRequest(api, projectId)
  const dashboard = await startDashboard(api.baseUrl)
  const browser = await chromium.launch({ executablePath: await findBrowser(), args: browserArguments })
  return {
    api,
    dashboard,
    browser,
    projectId,
    requestId,
    signIn: (name = 'admin', password = adminPassword, theme = 'light') =>
      signIn({ browser, baseUrl: dashboard.baseUrl, name, password, theme }),
    async stop() {
      await browser.close()
      await dashboard.stop()
      await api.stop()
    },
  }
}

function seedHostileRequest(api: RunningApi, projectId: string): Promise<string> {
  const tool = { id: 'call_1', type: 'function', function: { name: hostileText, arguments: hostileText } }
  const messages = [
    { role: 'system', content: `${hostileText} ${onlyInBody}` },
    {
      role: 'user',
      content: [
        { type: 'text', text: hostileText },
        { type: 'image_url', image_url: { url: 'http://203.0.113.9/x.png' } },
      ],
    },
    { role: 'assistant', content: null, tool_calls: [tool] },
    { role: 'tool', tool_call_id: 'call_1', content: hostileText },
  ]
  const answer = { choices: [{ index: 0, message: { role: 'assistant', content: hostileText } }] }
  return seedRequest(api.pool, createSealer([]), {
    projectId,
    model: hostileText.slice(0, 100),
    agentName: hostileText.slice(0, 100),
    sessionId: hostileText.slice(0, 100),
    metadata: { note: hostileText },
    requestBody: JSON.stringify({ model: 'm', messages }),
    responseBody: JSON.stringify(answer),
    scores: [
      { scorer: 'jailbreak_detection', value: 5, label: 'unsafe', severity: 'critical' },
      { scorer: 'pii_detection', value: 1, label: 'safe' },
    ],
  })
}

export interface SigningIn {
  browser: Browser
  baseUrl: string
  name: string
  password: string
  theme: 'light' | 'dark'
}

/** A new browser profile whose person is signed in and sees the overview. */
export async function signIn({ browser, baseUrl, name, password, theme }: SigningIn): Promise<VisitedPage> {
  const context = await browser.newContext({ baseURL: baseUrl, colorScheme: theme, locale: 'en-GB' })
  const page = await context.newPage()
  const offences: string[] = []
  page.on('dialog', (dialog) => {
    offences.push(`a dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('request', (request) => {
    if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(baseUrl))
      offences.push(`a request to ${request.url()}`)
  })
  page.on('console', (message) => {
    if (/content security policy/i.test(message.text())) offences.push(message.text())
  })
  await page.goto('/')
  await page.getByLabel('Name').fill(name)
  await page.getByLabel('Password', { exact: true }).fill(password)
  await page.getByRole('button', { name: 'Log in' }).click()
  await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
  return { page, context, offences }
}

const axeSource = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** What axe-core finds serious or critical on the page as it stands, one line each. */
export async function seriousFindings(page: Page): Promise<string[]> {
  // By the debugger, which the page's content policy does not bind.
  await page.evaluate(await axeSource)
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(): Promise<AxeResults> } }
    const { violations } = await axe.run()
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`))
  })
}

interface AxeResults {
  violations: { id: string; impact: string | null; nodes: { target: string[] }[] }[]
}

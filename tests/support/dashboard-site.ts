import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core'
import { createSealer } from '#runtime/sealing.ts'
import { ensureClient } from '#scripts/stack/ensure-client.ts'
import { browserArguments, findBrowser } from './find-browser.ts'
import { seedRequest } from './seed-requests.ts'
import { startApi, type RunningApi } from './start-api.ts'
import { adminPassword, startDashboard, type RunningDashboard } from './start-dashboard.ts'
import { startWithUndo } from './undo.ts'

/** Markup and control characters that would run, hide or reverse text if a page did not escape them. */
export const hostileText = [
  '"><img src=x onerror="window.__ran=1">',
  '<script>window.__ran=1</script>',
  '[a](javascript:window.__ran=1)',
  '\u202Eover\u202C \u200Bhidden \u001B[31mred\u001B[0m',
  '{{constructor.constructor("window.__ran=1")()}}',
].join(' ')

/** Text that is only in the body of the hostile request. */
export const onlyInBody = 'said in confidence'

/** The built client behind the dashboard's own server, and a browser to visit it. */
export interface OpenDashboard {
  dashboard: RunningDashboard
  browser: Browser
  /** A new browser profile, signed in, before the first navigation. */
  signIn: (name?: string, password?: string) => Promise<VisitedPage>
  stop(): Promise<void>
}

export interface DashboardSite extends OpenDashboard {
  api: RunningApi
  projectId: string
  /** Identifier of a request whose every text is hostile. */
  requestId: string
}

export interface VisitedPage {
  page: Page
  context: BrowserContext
  /** Violations: injected script that ran, requests to other hosts, breaches of the content policy. */
  offences: string[]
}

export function openDashboard(apiUrl: string): Promise<OpenDashboard> {
  return startWithUndo(async (undo) => {
    await ensureClient(console.log)
    const dashboard = await startDashboard(apiUrl)
    undo.push(() => dashboard.stop())
    const browser = await chromium.launch({ executablePath: await findBrowser(), args: browserArguments })
    undo.push(() => browser.close())
    return {
      dashboard,
      browser,
      signIn: (name = 'admin', password = adminPassword) =>
        signIn({ browser, baseUrl: dashboard.baseUrl, name, password, theme: 'light' }),
    }
  })
}

/** A dashboard in front of the real API alone, with a project whose every text is hostile. */
export function startDashboardSite(): Promise<DashboardSite> {
  return startWithUndo(async (undo) => {
    const api = await startApi()
    undo.push(() => api.stop())
    const { projectId } = await api.createProject({ name: 'Checkout' })
    const requestId = await seedHostileRequest(api, projectId)
    const opened = await openDashboard(api.baseUrl)
    undo.push(() => opened.stop())
    return { ...opened, api, projectId, requestId }
  })
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
    metadata: { note: hostileText, Model: 'another than it was' },
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

/**
 * Only ends a test that hangs. A click waits for two painted frames: half a minute on a machine with fifty
 * busy processes.
 */
const stepTimeoutMs = 120_000

/**
 * A new browser profile whose session comes from posting the sign-in data. The form itself takes a second
 * longer.
 */
export async function signIn({ browser, baseUrl, name, password, theme }: SigningIn): Promise<VisitedPage> {
  const context = await browser.newContext({ baseURL: baseUrl, colorScheme: theme, locale: 'en-GB' })
  context.setDefaultTimeout(stepTimeoutMs)
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
  const answer = await context.request.post('/bff/login', {
    headers: { 'x-sluice-dashboard': '1' },
    data: { name, password },
  })
  if (!answer.ok()) throw new Error(`${name} is not signed in: ${answer.status()} ${await answer.text()}`)
  return { page, context, offences }
}

const axeSource = readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Waits for animations to end: a colour in transition is neither of its two. Endless ones are skipped. */
const movedOn = `Promise.allSettled(document.getAnimations()
  .filter(({ effect }) => effect?.getComputedTiming().endTime !== Infinity).map(({ finished }) => finished)).then(() => true)`

/**
 * Serious and critical findings of axe-core on the current page, one line each. `rules`: all if absent.
 * `exclude`: a selector of what was checked before.
 */
export async function seriousFindings(
  page: Page,
  rules?: readonly string[],
  exclude: readonly string[] = [],
): Promise<string[]> {
  // Evaluated by the debugger, which the content policy does not bind. Once per document.
  if (!(await page.evaluate<boolean>("'axe' in globalThis"))) await page.evaluate(await axeSource)
  await page.evaluate(movedOn)
  return page.evaluate(
    async ([context, options]) => {
      const { axe } = globalThis as unknown as { axe: Axe }
      const { violations } = await axe.run(context, options)
      return violations
        .filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(' ')}`))
    },
    [
      { include: ['html'], exclude: [...exclude] },
      { resultTypes: ['violations'], ...(rules === undefined ? {} : { runOnly: [...rules] }) },
    ] as const,
  )
}

interface Axe {
  run(context: object, options: object): Promise<AxeResults>
}

interface AxeResults {
  violations: { id: string; impact: string | null; nodes: { target: string[] }[] }[]
}

import { mkdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { chromium, type Page } from 'playwright-core'
import { ensureClient } from '#scripts/stack/ensure-client.ts'
import { openBenchmark } from '#tests/support/benchmark.ts'
import { signIn } from '#tests/support/dashboard-site.ts'
import { browserArguments, findBrowser } from '#tests/support/find-browser.ts'
import { startApi } from '#tests/support/start-api.ts'
import { adminPassword, startDashboard } from '#tests/support/start-dashboard.ts'
import { undoAll, type Undo } from '#tests/support/undo.ts'
import { until } from '#tests/support/until.ts'
import { fillPictureCalls } from './picture-calls.ts'
import { fillPictureFindings } from './picture-findings.ts'
import { fillPictureRuns } from './picture-runs.ts'
import { fillPictureSettings } from './picture-settings.ts'

/**
 * Takes the screenshots of docs/dashboard: `node tests/dashboard/take-pictures.ts`. Real client and API with
 * a made-up shop's calls; every page at desktop and phone width, some also dark.
 */
const directory = join(import.meta.dirname, '..', '..', 'docs', 'dashboard')
const sizes = { wide: { width: 1280, height: 720 }, narrow: { width: 390, height: 844 } } as const
const maxBytes = 180_000
/** Pages with charts, marks and conversations, whose colours are chosen one by one. */
const inDark = ['home', 'findings', 'request', 'session', 'costs', 'user', 'search']

const undo: Undo = []
try {
  undo.push(await openBenchmark())
  await ensureClient(console.log)
  const api = await startApi()
  undo.push(() => api.stop())
  const { projectId } = await api.createProject({ name: 'Web shop', tier: 'team', cost_alert_usd: 250 })
  const requestId = await fillPictureCalls(api.pool, projectId)
  const webhookId = await fillPictureSettings(api, projectId, requestId)
  const findingId = await fillPictureFindings(api, projectId)
  const runs = await fillPictureRuns(api.pool, projectId)
  const dashboard = await startDashboard(api.baseUrl)
  undo.push(() => dashboard.stop())
  const browser = await chromium.launch({ executablePath: await findBrowser(), args: browserArguments })
  undo.push(() => browser.close())
  const common = { browser, baseUrl: dashboard.baseUrl, name: 'admin', password: adminPassword }
  const { page } = await signIn({ ...common, theme: 'light' })
  await mkdir(directory, { recursive: true })
  const users = await api.call('GET', `/api/users?project_id=${projectId}`, { operator: true })
  const userId = String((users.json['items'] as { user_id: string }[])[0]?.user_id)
  const open = async (on: Page, path: string) => {
    await on.goto(`${path}${path.includes('?') ? '&' : '?'}project=${projectId}`)
    if (path === '/search') await searchFor(on, 'order')
  }
  const paths = pagesOf({ requestId, webhookId, findingId, userId, ...runs })
  for (const [name, path] of Object.entries(paths)) {
    await open(page, path)
    for (const [size, viewport] of Object.entries(sizes)) {
      await page.setViewportSize(viewport)
      await take(page, `${name}-${size}`)
    }
  }
  const dark = await signIn({ ...common, theme: 'dark' })
  await dark.page.setViewportSize(sizes.wide)
  for (const name of inDark) {
    await open(dark.page, paths[name] ?? '/')
    await take(dark.page, `${name}-dark`)
  }
} finally {
  await undoAll(undo)
}

type ShownIds = Record<
  'requestId' | 'webhookId' | 'findingId' | 'userId' | 'scoreRunId' | 'redteamRunId',
  string
>

function pagesOf(ids: ShownIds): Record<string, string> {
  const { requestId, webhookId, findingId, userId, scoreRunId, redteamRunId } = ids
  return {
    home: '/',
    findings: '/findings',
    finding: `/findings/${findingId}`,
    'alert-rules': '/alert-rules',
    requests: '/requests?range=24h',
    request: `/requests/${requestId}`,
    sessions: '/sessions?range=24h',
    session: '/sessions/conversation-order-4711',
    tools: '/tools',
    costs: '/costs?range=24h',
    users: '/users?range=7d',
    user: `/users/${encodeURIComponent(userId)}?range=7d`,
    search: '/search',
    reviews: '/reviews',
    scorers: '/scorers',
    'score-runs': '/score-runs',
    'score-run': `/score-runs/${scoreRunId}`,
    'red-team': '/runs',
    'red-team-run': `/runs/${redteamRunId}`,
    operations: '/operations',
    'dead-letters': '/operations/dead-letters',
    keys: '/settings/keys',
    webhooks: '/settings/webhooks',
    destinations: '/settings/destinations',
    'delivery-log': `/settings/webhooks/${webhookId}/deliveries`,
    project: '/settings/project',
    billing: '/settings/billing',
    projects: '/settings/projects',
    people: '/settings/people',
    audit: '/settings/audit',
  }
}

async function searchFor(page: Page, words: string): Promise<void> {
  await page.getByRole('textbox', { name: /^Words/ }).fill(words)
  await page.getByRole('main').getByRole('button', { name: 'Search' }).click()
  await page.getByText(/^\d+ found\. /).waitFor()
  await page.getByRole('main').getByRole('button', { name: 'Search' }).waitFor()
}

/** Takes a screenshot once nothing moves or loads. */
async function take(page: Page, name: string): Promise<void> {
  // Before the page's chunk arrives there is no loading indicator.
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  await page.waitForLoadState('networkidle')
  await until(async () => (await page.getByRole('status', { name: 'Loading' }).count()) === 0)
  // Charts wait for their chunk.
  await until(async () => (await page.locator('main .mantine-Skeleton-root').count()) === 0)
  const file = join(directory, `${name}.png`)
  await writeFile(file, await page.screenshot({ animations: 'disabled' }))
  const { size } = await stat(file)
  if (size > maxBytes) throw new Error(`${name}.png has ${size} bytes, more than ${maxBytes}`)
  console.log(`${name}.png ${Math.round(size / 1_000)} kB`)
}

import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { chromium, type Browser, type Page } from 'playwright-core'
import { freePorts } from '#infra/embedded/free-port.ts'
import { idFromUuid, idToUuid } from '#schemas/ids.ts'
import { ensureClient } from '#scripts/stack/ensure-client.ts'
import { openBenchmark, printFigures } from '../support/benchmark.ts'
import { filledDays } from '../support/fill-calls.ts'
import { filledDatabase, startKeptPostgres, type FilledDatabase } from '../support/filled-database.ts'
import { browserArguments, findBrowser } from '../support/find-browser.ts'
import { quantile } from '../support/quantile.ts'
import { startServiceProcess } from '../support/service-process.ts'
import { operatorSecret } from '../support/start-api.ts'
import { adminPassword } from '../support/start-dashboard.ts'
import { startFilledApi } from '../support/start-filled-api.ts'
import { awaitShown, countScripts, shiftClock, timeClick, type TimedClick } from '../support/time-clicks.ts'
import { undoAll, type Undo } from '../support/undo.ts'

/**
 * From click to painted rows in a headless Chromium, over ten million calls: the database that
 * `tests/bench/api.ts --fill-only` leaves in `--state`, with API and dashboard as processes. Every round
 * starts with a reload, so no answer is cached. Beside each time is when the API's answers had arrived, the
 * lower bound. The browser's clock is set to the end of the filled days, so that its last 24 hours are full.
 */
const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '10000000' },
    rounds: { type: 'string', default: '60' },
    state: { type: 'string', default: join(import.meta.dirname, '..', '..', '.cache', 'bench-api') },
  },
})
const rounds = Number(values.rounds)
/** Not counted: JIT compilation and Postgres's caches. */
const warmUps = 5
const maxInitialKb = 300
const dayMs = 86_400_000

const firstRow = `document.querySelector('tr[data-index="0"] a') !== null`
/** The previous rows stay until the new ones are there; the first may be among them. */
const otherRows = `rows() !== '' && rows() !== old`
const nothingWaits = `document.querySelector('main [aria-label="Loading"], main .mantine-Skeleton-root') === null`
const wholeHome = `${nothingWaits} && document.querySelector('main [aria-label=Delivery]') !== null && document.querySelectorAll('main table').length >= 3`
const wholeCosts = `${nothingWaits} && document.querySelectorAll('main .recharts-surface').length >= 1 && document.querySelector('main table[aria-label="Costs"] td') !== null`
const wholeUsers = `${nothingWaits} && document.querySelector('main table[aria-label="Users"] td') !== null`
const wholeDetail = `${nothingWaits} && document.body.innerText.includes('words words') && document.body.innerText.includes('pii_detection')`
/** Facets and the index of the chosen value, in turn. */
const choices = [
  ['Verdict', 2],
  ['Severity', 1],
  ['Agent', 5],
  ['Model', 3],
  ['Tool', 2],
] as const

/** URLs of lists that requested bodies. */
const bodiesAsked: string[] = []
const listsAsked = new Set<string>()

const stopInfrastructure = await openBenchmark()
const undo: Undo = [stopInfrastructure]
try {
  await ensureClient(console.log)
  const postgres = await startKeptPostgres(values.state)
  undo.push(() => postgres.stop())
  const filled = await filledDatabase(postgres, Number(values.rows), console.log)
  const { api, baseUrl } = await startFilledApi(filled, values.state)
  undo.push(() => api.stop())
  const browser = await chromium.launch({ executablePath: await findBrowser(), args: browserArguments })
  undo.push(() => browser.close())
  await measure(browser, await startServer(baseUrl), filled)
} finally {
  await undoAll(undo)
}

async function startServer(apiUrl: string): Promise<string> {
  const [port, operationsPort] = (await freePorts(2)) as [number, number]
  const dashboard = await startServiceProcess({
    name: 'dashboard',
    operationsPort,
    logFile: join(values.state, 'dashboard.log'),
    environment: {
      API_BACKEND_URL: apiUrl,
      INTERNAL_API_SECRET: operatorSecret,
      DASHBOARD_ADMIN_PASSWORD: adminPassword,
      DASHBOARD_HOST: '127.0.0.1',
      DASHBOARD_PORT: String(port),
    },
  })
  undo.push(() => dashboard.stop())
  return `http://127.0.0.1:${port}`
}

async function measure(browser: Browser, baseUrl: string, filled: FilledDatabase): Promise<void> {
  const context = await browser.newContext({
    baseURL: baseUrl,
    locale: 'en-GB',
    viewport: { width: 1440, height: 900 },
  })
  await context.addInitScript(shiftClock(filled.endMs - 60_000 - Date.now()))
  const page = await context.newPage()
  const scriptBytes = await countScripts(page)
  await signIn(page)
  const initialJsKb = scriptBytes() / 1_000
  await page.goto('/')
  await awaitShown(page, wholeHome)
  const homeJsKb = scriptBytes() / 1_000

  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url())
    if (/\/api\/requests\/req_/.test(pathname)) bodiesAsked.push(pathname)
    if (pathname.endsWith('/api/requests')) listsAsked.add(pathname + search)
  })
  const list = await repeat(() => openList(page))
  const filter = await repeat((round) => choose(page, round))
  await findBodies(page)
  const home = await repeat(() => openPage(page, 'Home', wholeHome))
  const costs = await repeat(() => openPage(page, 'Cost', wholeCosts))
  const users = await repeat(() => openPage(page, 'Users', wholeUsers))
  page.removeAllListeners('request')
  const calls = await callsWithBodies(filled)
  const detail = await repeat((round) => openDetail(page, calls, round))
  report({ list, filter, detail, home, costs, users }, { initialJsKb, homeJsKb })
}

/** To the request list, in a new profile. */
async function signIn(page: Page): Promise<void> {
  await page.goto('/requests?range=30d')
  await page.getByLabel('Name').fill('admin')
  await page.getByLabel('Password', { exact: true }).fill(adminPassword)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await awaitShown(page, firstRow)
}

async function repeat(once: (round: number) => Promise<TimedClick>): Promise<TimedClick[]> {
  const took: TimedClick[] = []
  for (let round = -warmUps; round < rounds; round++) {
    const click = await once(round + warmUps)
    if (round >= 0) took.push(click)
  }
  return took
}

async function openList(page: Page): Promise<TimedClick> {
  await page.goto('/tools')
  await awaitShown(page, nothingWaits)
  return timeClick(page, page.getByRole('link', { name: 'Requests' }), firstRow)
}

/** From the list of everything, by one of the facet values. */
async function choose(page: Page, round: number): Promise<TimedClick> {
  const [group, place] = choices[round % choices.length] ?? choices[0]
  await page.goto('/requests?range=30d')
  await awaitShown(page, firstRow)
  const target = page.getByRole('group', { name: group, exact: true }).getByRole('button').nth(place)
  return timeClick(page, target, otherRows)
}

/** By its link: home, the last 30 days by the declared metadata key, or the users of 30 days. */
async function openPage(page: Page, link: string, isWhole: string): Promise<TimedClick> {
  await page.goto('/tools')
  await awaitShown(page, nothingWaits)
  const navigation = page.getByRole('navigation', { name: 'Main' })
  return timeClick(page, navigation.getByRole('link', { name: link, exact: true }), isWhole)
}

interface KeptCall {
  id: string
  createdAt: Date
}

async function openDetail(page: Page, calls: readonly KeptCall[], round: number): Promise<TimedClick> {
  const { id, createdAt } = calls[round % calls.length] as KeptCall
  const end = new Date(createdAt.getTime() + 1_000)
  await page.goto(`/requests?start=${createdAt.toISOString()}&end=${end.toISOString()}`)
  return timeClick(page, page.locator(`tr a[href*="${id}"]`), wholeDetail)
}

/** Calls of every day whose bodies are kept. */
async function callsWithBodies({ url, projectId, startMs }: FilledDatabase): Promise<KeptCall[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const calls: KeptCall[] = []
  for (let day = 0; day < filledDays; day++) {
    const from = startMs + day * dayMs
    const { rows } = await client.query<{ request_id: string; created_at: Date }>(
      `select request_id, created_at from llm_request_bodies
       where project_id = $1 and created_at >= $2 and created_at < $3 limit $4`,
      [
        idToUuid(projectId),
        new Date(from),
        new Date(from + dayMs),
        Math.ceil((rounds + warmUps) / filledDays),
      ],
    )
    for (const row of rows)
      calls.push({ id: idFromUuid('request', row.request_id), createdAt: row.created_at })
  }
  await client.end()
  return calls
}

/** Throws if a list requested or received bodies. */
async function findBodies(page: Page): Promise<void> {
  for (const address of listsAsked) {
    const answer = await page.request.get(address, { headers: { 'x-sluice-dashboard': '1' } })
    if (!answer.ok()) throw new Error(`${address}: ${answer.status()}`)
    if (/"(?:request|response)_body"/.test(await answer.text())) bodiesAsked.push(address)
  }
  if (listsAsked.size === 0) throw new Error('no list was requested')
  if (bodiesAsked.length > 0) throw new Error(`lists requested bodies: ${bodiesAsked.join(', ')}`)
}

function report(
  measured: Record<'list' | 'filter' | 'detail' | 'home' | 'costs' | 'users', readonly TimedClick[]>,
  { initialJsKb, homeJsKb }: { initialJsKb: number; homeJsKb: number },
): void {
  const p95s = Object.entries(measured).map(([name, clicks]) => {
    const painted = clicks.map(({ paintedMs }) => paintedMs)
    const answered = clicks.map(({ answeredMs }) => answeredMs)
    return {
      name,
      p50: roundedQuantile(painted, 0.5),
      p95: roundedQuantile(painted, 0.95),
      'p50 answered': roundedQuantile(answered, 0.5),
      'p95 answered': roundedQuantile(answered, 0.95),
    }
  })
  console.table(Object.fromEntries(p95s.map(({ name, ...times }) => [name, times])))
  console.log(
    `JavaScript: ${initialJsKb.toFixed(1)} kB until rows are painted, ${homeJsKb.toFixed(1)} kB of home, without its charts below`,
  )
  if (initialJsKb > maxInitialKb) throw new Error(`more than ${maxInitialKb} kB of initial JavaScript`)
  printFigures('dashboard', {
    ...Object.fromEntries(p95s.map(({ name, p95 }) => [`${name}_p95_ms`, p95])),
    ...Object.fromEntries(p95s.map(({ name, p50 }) => [`${name}_p50_ms`, p50])),
    initial_js_kb: Number(initialJsKb.toFixed(1)),
    home_js_kb: Number(homeJsKb.toFixed(1)),
  })
}

function roundedQuantile(times: readonly number[], share: number): number {
  return Number(quantile(times, share).toFixed(1))
}

import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { createServer, request as ask, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { chromium, type Browser } from 'playwright-core'
import { listen } from '#runtime/operations-server.ts'
import { browserArguments, findBrowser } from '#tests/support/find-browser.ts'
import { startApi, type RunningApi } from '#tests/support/start-api.ts'

let api: RunningApi
let key = ''
let proxy: Server
let browser: Browser
const prefix = '/sluice'

beforeAll(async () => {
  // As scripts/up sets it, while the API's pages are also opened at other addresses.
  api = await startApi({ PUBLIC_BASE_URL: 'http://localhost:3001' })
  ;({ key } = await api.createProject())
  proxy = createServer((request, response) => {
    const url = new URL(request.url?.replace(prefix, '') ?? '/', api.baseUrl)
    const passed = ask(url, { method: request.method, headers: request.headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    request.pipe(passed)
  })
  await listen(proxy, 0, '127.0.0.1')
  browser = await chromium.launch({ executablePath: await findBrowser(), args: browserArguments })
}, 600_000)
afterAll(async () => {
  await browser.close()
  proxy.closeAllConnections()
  proxy.close()
  await api.stop()
})

const places: [string, () => string][] = [
  ['the address that it listens at', () => `${api.baseUrl}/docs`],
  ['another name of this machine', () => `${api.baseUrl.replace('127.0.0.1', 'localhost')}/docs`],
  ['an address with a slash at its end', () => `${api.baseUrl}/docs/`],
  [
    'a path that a proxy gives it',
    () => `http://127.0.0.1:${(proxy.address() as AddressInfo).port}${prefix}/docs`,
  ],
]

test.each(places)('an untouched form of /docs is sent and accepted at %s', async (_name, addressOf) => {
  const page = await browser.newPage({ extraHTTPHeaders: { 'x-service-key': key } })
  const offences: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error') offences.push(message.text())
  })
  await page.goto(addressOf())
  for (const tag of ['Requests', 'Agents']) await page.locator(`#operations-tag-${tag}`).click()
  for (const operation of ['getApiRequests', 'getApiRequestsExport', 'getApiSessions']) {
    const form = page.locator(`[id$="-${operation}"]`)
    await form.locator('.opblock-summary').click()
    await form.getByRole('button', { name: 'Try it out' }).click()
    await form.getByRole('button', { name: 'Execute' }).click()
    const status = form.locator('.live-responses-table tbody .response-col_status').first()
    await status.waitFor()
    expect([operation, (await status.innerText()).trim(), offences]).toEqual([operation, '200', []])
  }
  await page.close()
})

import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { chromium, type Browser } from 'playwright-core'
import { freePorts } from '#infra/embedded/free-port.ts'
import { ensureClient } from '#scripts/stack/ensure-client.ts'
import { browserArguments, findBrowser } from '#tests/support/find-browser.ts'
import {
  startOpenidProvider,
  testClient,
  type TestOpenidProvider,
} from '#tests/support/openid-test-provider.ts'
import { startApi, type RunningApi } from '#tests/support/start-api.ts'
import { startDashboard, type RunningDashboard } from '#tests/support/start-dashboard.ts'

let api: RunningApi
let provider: TestOpenidProvider
let dashboard: RunningDashboard
let browser: Browser

beforeAll(async () => {
  await ensureClient(console.log)
  const [port] = await freePorts(1)
  const url = `http://localhost:${port}`
  provider = await startOpenidProvider(`${url}/bff/oidc/callback`)
  api = await startApi()
  dashboard = await startDashboard(api.baseUrl, {
    DASHBOARD_URL: url,
    DASHBOARD_PORT: String(port),
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: testClient.id,
    OIDC_CLIENT_SECRET: testClient.secret,
    OIDC_SCOPES: 'openid email groups',
    OIDC_LABEL: 'Example',
    OIDC_GROUP_ROLES: 'safety=analyst',
  })
  browser = await chromium.launch({ executablePath: await findBrowser(), args: browserArguments })
}, 600_000)
afterAll(async () => {
  await browser.close()
  await dashboard.stop()
  await api.stop()
  await provider.stop()
})

test('who is let in comes to the page that was asked for, who is not hears why, once', async () => {
  const page = await browser.newPage({ baseURL: `http://localhost:${new URL(dashboard.baseUrl).port}` })
  const ada = { sub: 'ada', email: 'ada@example.com' }
  const signIn = page.getByRole('link', { name: 'Sign in with Example' })
  const failure = page.getByText('Single sign-on failed')
  provider.signsIn({ ...ada, groups: ['others'] })
  await page.goto('/tools')
  await signIn.click()
  await page.getByText('None of your groups has access').waitFor()
  await page.waitForURL((url) => url.search === '')

  provider.signsIn({ ...ada, groups: ['safety'] })
  for (const code of ['__proto__', 'call+0900-123']) {
    await page.goto(`/tools?sign_in_error=${code}`)
    await failure.waitFor()
  }
  expect(await page.getByText('0900').count()).toBe(0)
  await signIn.click()
  // The cookie is SameSite=Strict and the provider another site: the page loads without it, its requests have
  // it.
  await page.getByRole('button', { name: /ada@example.com/ }).click()
  expect(new URL(page.url()).pathname).toBe('/tools')
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await signIn.waitFor()
  expect(await failure.count()).toBe(0)
})

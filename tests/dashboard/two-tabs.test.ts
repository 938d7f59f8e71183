import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { onlyInBody, startDashboardSite, type DashboardSite } from '#tests/support/dashboard-site.ts'
import { signInPerson } from '#tests/support/sign-in-people.ts'

let site: DashboardSite

beforeAll(async () => {
  site = await startDashboardSite()
}, 600_000)
afterAll(() => site.stop())

test('who signs in in another tab finds here nothing of what the person before was shown', async () => {
  const { page, context } = await site.signIn()
  await page.goto(`/requests/${site.requestId}?project=${site.projectId}`)
  await page.getByText(onlyInBody).first().waitFor()
  const { login: name, password } = await signInPerson(site.api, 'viewer', [site.projectId])
  const headers = { 'x-sluice-dashboard': '1' }
  await context.request.post('/bff/logout', { headers })
  await context.request.post('/bff/login', { headers, data: { name, password } })
  // What was sent in the session before is answered now.
  await page.route(
    '**/deliveries*',
    (route) => route.fulfill({ status: 401, json: { detail: 'you are signed out', code: 'LOGIN_ENDED' } }),
    { times: 1 },
  )
  await page.getByRole('button', { name: 'viewer' }).waitFor()
  await page.getByRole('table', { name: 'Facts' }).waitFor()
  expect(await page.getByText(onlyInBody).count()).toBe(0)
  await context.close()
})

import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { operatorSecret, startApi, type RunningApi } from '#tests/support/start-api.ts'
import {
  adminPassword,
  startDashboard,
  type RunningDashboard,
  type TestBrowser,
} from '#tests/support/start-dashboard.ts'

let api: RunningApi
let dashboard: RunningDashboard
let other: RunningDashboard
let admin: TestBrowser

beforeAll(async () => {
  api = await startApi()
  dashboard = await startDashboard(api.baseUrl)
  other = await startDashboard(api.baseUrl)
  admin = dashboard.browser()
  expect((await admin.signIn('admin', adminPassword)).status).toBe(200)
}, 60_000)
afterAll(async () => {
  await other.stop()
  await dashboard.stop()
  await api.stop()
}, 60_000)

describe('signing in', () => {
  test('gives a cookie that no script reads and no other site sends, and says who one is', async () => {
    const answer = await dashboard.browser().signIn('Admin', adminPassword)
    expect(answer.json).toMatchObject({ login: 'admin', role: 'admin', sees_every_project: true })
    const [cookie = ''] = answer.headers.getSetCookie()
    expect(cookie).toMatch(/^sluice=s%3A[\w%.-]+; Path=\/; Expires=[^;]+; HttpOnly; SameSite=Strict$/)
    expect(answer.text + cookie).not.toContain(operatorSecret)
  })
})

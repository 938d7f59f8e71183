import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { startApi, type RunningApi } from '#tests/support/start-api.ts'
import { adminPassword, startDashboard } from '#tests/support/start-dashboard.ts'

let api: RunningApi

beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.stop())

describe('where somebody signs in from', () => {
  test.each([
    ['an IPv4 address is written down as such by a dashboard that listens on IPv6 too', {}, '127.0.0.1'],
    ['a proxy is known by its IPv4 address there', { TRUSTED_PROXIES: '127.0.0.1' }, '198.51.100.9'],
    ['a proxy is known by its network there', { TRUSTED_PROXIES: '127.0.0.0/8' }, '198.51.100.9'],
    ['another proxy is not believed', { TRUSTED_PROXIES: '192.0.2.7' }, '127.0.0.1'],
    [
      'what a proxy says in the form of IPv6 is the same',
      { TRUSTED_PROXIES: 'loopback' },
      '198.51.100.9',
      '::ffff:',
    ],
  ])('%s', async (_name, environment, expected, form = '') => {
    const dual = await startDashboard(api.baseUrl, { ...environment, DASHBOARD_HOST: '::' })
    try {
      const body = { name: 'admin', password: adminPassword }
      const headers = { 'x-forwarded-for': `${form}198.51.100.9` }
      expect((await dual.browser().send('POST', '/bff/login', { body, headers })).status).toBe(200)
      const { rows } = await api.pool.query('select address from logins order by created_at desc limit 1')
      expect(rows).toEqual([{ address: expected }])
    } finally {
      await dual.stop()
    }
  })
})

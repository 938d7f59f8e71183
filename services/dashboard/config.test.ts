import { expect, test } from '@jest/globals'
import { parseConfig } from '#runtime/config.ts'
import { dashboardConfigSchema } from './config.ts'

const problemsWith = (given: Record<string, string>) => {
  const parsed = parseConfig(dashboardConfigSchema, { INTERNAL_API_SECRET: 'a-secret-for-tests', ...given })
  return parsed.ok ? [] : parsed.problems
}

test('what the API or express would refuse later is refused at the start, all of it and by name', () => {
  expect(
    problemsWith({
      DASHBOARD_PORT: 'x',
      DASHBOARD_ADMIN_LOGIN: 'the admin',
      DASHBOARD_ADMIN_PASSWORD: 'too short',
      OIDC_CLIENT_ID: 'sluice',
      TRUSTED_PROXIES: '10.0.0.0/8,nonsense',
    }).map((problem) => problem.split(':')[0]),
  ).toEqual([
    'DASHBOARD_PORT',
    'DASHBOARD_ADMIN_LOGIN',
    'DASHBOARD_ADMIN_PASSWORD',
    'TRUSTED_PROXIES',
    'OIDC_CLIENT_ID',
  ])
  expect(problemsWith({ TRUSTED_PROXIES: '::/0' })).toHaveLength(1)
  const named = { DASHBOARD_ADMIN_LOGIN: 'administrator', DASHBOARD_ADMIN_PASSWORD: 'Administrator' }
  expect(problemsWith(named)).toEqual(['DASHBOARD_ADMIN_PASSWORD: must not be DASHBOARD_ADMIN_LOGIN'])
})

test.each([
  ['too-short', 'must have at least 16 characters'],
  ['a secret with spaces in it', 'must be ASCII without spaces: it is sent as a bearer token'],
  ['ein-geheimes-schlüsselwort', 'must be ASCII without spaces: it is sent as a bearer token'],
])('%s is no secret that the API would know', (INTERNAL_API_SECRET, why) => {
  expect(problemsWith({ INTERNAL_API_SECRET })).toEqual([`INTERNAL_API_SECRET: ${why}`])
})

test.each(['loopback', 'uniquelocal,192.0.2.7', '10.0.0.0/8', '10.0.0.0/255.0.0.0', 'fd00::/8'])(
  'proxies at %s may be trusted',
  (TRUSTED_PROXIES) => {
    expect(problemsWith({ TRUSTED_PROXIES })).toEqual([])
  },
)

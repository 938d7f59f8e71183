import { expect, test } from '@jest/globals'
import { z } from 'zod'
import { parseConfig, postgresFields } from './config.ts'

const schema = z.object(postgresFields)
const parts = { DATABASE_HOST: 'db.example.com', DATABASE_USER: 'sluice', DATABASE_PASSWORD: 'p@ss/w%rd:?#' }

function urlOf(environment: Record<string, string>): string | readonly string[] {
  const parsed = parseConfig(schema, environment)
  return parsed.ok ? parsed.value.DATABASE_URL : parsed.problems
}

const login = 'sluice:p%40ss%2Fw%25rd%3A%3F%23'
const authority = '-----BEGIN CERTIFICATE-----\nno certificate\n-----END CERTIFICATE-----'

test.each([
  ['its defaults', {}, `postgres://${login}@db.example.com:5432/sluice`],
  [
    'all parts',
    { DATABASE_PORT: '6432', DATABASE_NAME: 'calls/1' },
    `postgres://${login}@db.example.com:6432/calls%2F1`,
  ],
  ['an IPv6 address', { DATABASE_HOST: 'fd00::1' }, `postgres://${login}@[fd00::1]:5432/sluice`],
  ['TLS', { DATABASE_SSL: 'true' }, `postgres://${login}@db.example.com:5432/sluice?sslmode=verify-full`],
])('a host, with %s, makes an address', (_name, more, expected) => {
  expect(urlOf({ ...parts, ...more })).toBe(expected)
})

test.each([
  [
    { ...parts, DATABASE_URL: 'postgres://a:b@c/d' },
    ['DATABASE_HOST: is set, and so is DATABASE_URL: take one away'],
  ],
  [
    { DATABASE_HOST: 'db' },
    [
      'DATABASE_USER: is not set, and DATABASE_HOST is',
      'DATABASE_PASSWORD: is not set, and DATABASE_HOST is',
    ],
  ],
  [{ ...parts, DATABASE_HOST: 'db:5432/x' }, [expect.stringMatching(/^DATABASE_HOST: expected a host name/)]],
  [{}, ['DATABASE_URL: is not set']],
])('%j is refused', (environment, problems) => {
  expect(urlOf(environment as Record<string, string>)).toEqual(expect.arrayContaining(problems))
})

test('with an authority the address has no mode of its own, which would take its place', () => {
  const problems = urlOf({ ...parts, DATABASE_SSL: 'true', DATABASE_SSL_CA: authority })
  expect(problems).toEqual([expect.stringContaining('DATABASE_SSL_CA: expected whole certificates')])
})

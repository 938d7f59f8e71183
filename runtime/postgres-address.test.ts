import { expect, test } from '@jest/globals'
import pg from 'pg'
import { connectionOf } from './postgres-address.ts'

test.each([
  ['postgres://u:p@db:5432/sluice', 'db', 5432],
  ['postgres://u:p@[fd00::1]:6432/sluice', 'fd00::1', 6432],
  ['postgres://u:p@[fd00::1]/sluice?application_name=a', 'fd00::1', 5432],
  ['postgres://u:p%5B@[::1]:6432/sluice#b', '::1', 6432],
  ['postgres://u:50%off@[::1]:6432/sluice', '::1', 6432],
  ['postgres://u:p@[fd00::1]:6432/sluice?host=other', 'other', 6432],
])('%s leads to %s', (url, host, port) => {
  const client = new pg.Client(connectionOf({ DATABASE_URL: url }))
  expect([client.host, client.port, client.user, client.database]).toEqual([host, port, 'u', 'sluice'])
})

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { findStore } from './find-store.ts'
import { statePaths } from './state-directory.ts'

test('of a running stack: its database, the keys of its bodies, and its dashboard, to which the events of a run lead', async () => {
  const state = await mkdtemp(join(tmpdir(), 'find-store-'))
  const { connection, secrets } = statePaths(state)
  await writeFile(
    connection,
    JSON.stringify({ database_url: 'postgres://its', dashboard_url: 'http://its:3100' }),
  )
  await writeFile(secrets, JSON.stringify({ BODY_ENCRYPTION_KEYS: 'k1:its' }))
  const its = {
    DATABASE_URL: 'postgres://its',
    BODY_ENCRYPTION_KEYS: 'k1:its',
    DASHBOARD_URL: 'http://its:3100',
  }
  expect(await findStore(state, {})).toEqual(its)
  const given = { DASHBOARD_URL: 'https://sluice.example.com' }
  expect(await findStore(state, given)).toEqual({ ...its, ...given })
  // The stack of --state, whatever database a file names. Keys in a file are the user's choice.
  const files = { DATABASE_URL_FILE: '/run/url', BODY_ENCRYPTION_KEYS_FILE: '/run/keys', DASHBOARD_URL: '' }
  const { BODY_ENCRYPTION_KEYS_FILE } = files
  const { DATABASE_URL, DASHBOARD_URL } = its
  expect(await findStore(state, files)).toEqual({ DATABASE_URL, DASHBOARD_URL, BODY_ENCRYPTION_KEYS_FILE })
  await rm(state, { recursive: true })
})

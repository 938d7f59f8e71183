import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'

test('an unreachable Postgres is reported in a sentence', () => {
  const env = {
    ...process.env,
    KAFKA_BROKERS: '127.0.0.1:1',
    SCHEMA_REGISTRY_URL: 'http://127.0.0.1:1',
    DATABASE_URL: 'postgres://a:b@127.0.0.1:1/c',
  }
  const { status, stderr } = spawnSync(process.execPath, [join(import.meta.dirname, 'migrate.ts')], { env })
  expect(String(stderr)).toBe('sluice: Postgres: connect ECONNREFUSED 127.0.0.1:1\n')
  expect(status).toBe(2)
})

test('takes --state like every other script, because the doctor refers to it', () => {
  const script = join(import.meta.dirname, 'migrate.ts')
  const { status, stderr } = spawnSync(process.execPath, [script, '--status', '--state', '/not/there'])
  expect(String(stderr)).toMatch(
    /^sluice: cannot read \/not\/there\/connection\.json .*: name a running stack/,
  )
  expect(status).toBe(2)
})

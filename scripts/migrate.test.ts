import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'

test('an option that nobody knows is answered with the usage and 2, not with a stack', () => {
  const { status, stderr } = spawnSync(process.execPath, [join(import.meta.dirname, 'migrate.ts'), '--bogus'])
  expect(String(stderr)).toMatch(/^sluice: Unknown option '--bogus'[^]*scripts\/migrate \[--status/)
  expect(String(stderr)).not.toContain('    at ')
  expect(status).toBe(2)
})

test('a stack is named as for every other script, whose doctor sends people here', () => {
  const script = join(import.meta.dirname, 'migrate.ts')
  const { status, stderr } = spawnSync(process.execPath, [script, '--status', '--state', '/not/there'])
  expect(String(stderr)).toMatch(
    /^sluice: cannot read \/not\/there\/connection\.json .*: name a running stack/,
  )
  expect(status).toBe(2)
})

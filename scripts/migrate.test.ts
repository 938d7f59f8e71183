import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'

test('an option that nobody knows is answered with the usage and 2, not with a stack', () => {
  const { status, stderr } = spawnSync(process.execPath, [join(import.meta.dirname, 'migrate.ts'), '--bogus'])
  expect(String(stderr)).toMatch(/^sluice: Unknown option '--bogus'[^]*scripts\/migrate \[--status/)
  expect(String(stderr)).not.toContain('    at ')
  expect(status).toBe(2)
})

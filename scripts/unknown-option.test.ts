import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'

// One of the many scripts that share their first lines, and those that differ.
test.each([
  ['scripts/migrate', 'scripts/migrate.ts'],
  ['scripts/up', 'scripts/up.ts'],
  ['scripts/chaos', 'tests/chaos/whole-system/run.ts'],
  ['node tests/simulation/run.ts', 'tests/simulation/run.ts'],
])('%s answers an option that nobody knows with its usage and 2, not with a stack', (name, file) => {
  const { status, stderr } = spawnSync(process.execPath, [join(import.meta.dirname, '..', file), '--bogus'])
  const [said, usage] = String(stderr).split('\n\n')
  expect([said, usage?.startsWith(`${name} [--`), status]).toEqual([
    "sluice: Unknown option '--bogus'",
    true,
    2,
  ])
  expect(String(stderr)).not.toContain('    at ')
})

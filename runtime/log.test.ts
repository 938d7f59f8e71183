import { spawnSync } from 'node:child_process'
import { existsSync, openSync, closeSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from '@jest/globals'

const log = pathToFileURL(join(import.meta.dirname, 'log.ts')).href
const run = (program: string, stdout: number | 'pipe') =>
  spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', stdout, 'pipe'],
    timeout: 60_000,
    maxBuffer: 16 * 1024 * 1024,
    encoding: 'utf8',
  })

test('lines that come faster than they are written are all written', () => {
  const lines = 20_000
  const burst = `
    import { createLog } from '${log}'
    const log = createLog('test', 'info')
    for (let line = 0; line < ${lines}; line++) log.info({ line }, 'a score of a batch, as the sink logs them all in one turn')
  `
  const { stdout, stderr, status } = run(burst, 'pipe')
  expect([stdout.split('\n').length - 1, stderr, status]).toEqual([lines, '', 0])
})

const program = `
  import { stat } from 'node:fs/promises'
  import { createLog } from '${log}'
  const log = createLog('test', 'info')
  for (let line = 0; line < 3; line++) log.info('not written')
  // Behind the write of the lines, in the same queue.
  for (let turn = 0; turn < 50; turn++) await stat('/')
  log.info('nor this')
  process.stderr.write('goes on')
  process.exit(0)
`

// What a disk without room answers. There is none of it elsewhere than on Linux.
const here = existsSync('/dev/full') ? test : test.skip
here('a log that cannot be written ends nobody, and keeps nobody from ending', () => {
  const full = openSync('/dev/full', 'w')
  try {
    const { status, stderr } = run(program, full)
    expect([stderr, status]).toEqual(['goes on', 0])
  } finally {
    closeSync(full)
  }
})

import { spawnSync } from 'node:child_process'
import { existsSync, openSync, closeSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from '@jest/globals'

const program = `
  import { stat } from 'node:fs/promises'
  import { createLog } from '${pathToFileURL(join(import.meta.dirname, 'log.ts')).href}'
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
    const args = ['--input-type=module', '--eval', program]
    const { status, stderr } = spawnSync(process.execPath, args, {
      stdio: ['ignore', full, 'pipe'],
      timeout: 60_000,
    })
    expect([stderr.toString(), status]).toEqual(['goes on', 0])
  } finally {
    closeSync(full)
  }
})

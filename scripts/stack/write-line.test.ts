import { spawnSync } from 'node:child_process'
import { closeSync, existsSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from '@jest/globals'

const program = `
  import { writeLine } from '${pathToFileURL(join(import.meta.dirname, 'write-line.ts')).href}'
  for (let line = 0; line < 2; line++) {
    writeLine('not written')
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  process.stderr.write('goes on')
`
const say = (stdout: number | 'pipe') =>
  spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', stdout, 'pipe'],
    encoding: 'utf8',
  })

test('a line is written', () => {
  expect(say('pipe')).toMatchObject({ stdout: 'not written\nnot written\n', status: 0 })
})

// The error of a full disk. Only Linux has /dev/full.
const here = existsSync('/dev/full') ? test : test.skip
here('a line for which the disk has no room ends nobody', () => {
  const full = openSync('/dev/full', 'w')
  try {
    expect(say(full)).toMatchObject({ stderr: 'goes on', status: 0 })
  } finally {
    closeSync(full)
  }
})

import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'

const root = join(import.meta.dirname, '..')

/** What Kafka, Postgres, Node and commands say, in words of their own. */
const foreign =
  /^(password authentication failed|Not authorized to access group|canceling statement|in a read-only|certificate has expired|unable to verify|does not match certificate's|alert certificate|df -h|du -xsh|out of shared memory|no option http-|curl -N|kubectl |docker |scripts\/|select |show )/

test('log messages that runbooks and docs/operations.md quote are in the source', () => {
  const source = execFileSync('git', ['grep', '-h', '-e', '.', '--', '*.ts'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 27,
  })
  const missing = [...globSync('docs/runbooks/*.md', { cwd: root }), 'docs/operations.md'].flatMap((page) => {
    const prose = readFileSync(join(root, page), 'utf8').replaceAll(/```[^]*?```/g, '')
    return [...prose.matchAll(/`([a-zA-Z][a-zA-Z' ,;:/\n-]* [a-zA-Z' ,;:/\n-]*)`/g)]
      .map(([, quoted = '']) => quoted.replaceAll(/\s+/g, ' '))
      .filter((quoted) => !foreign.test(quoted) && !source.includes(quoted))
      .map((quoted) => `${page}: ${quoted}`)
  })
  expect(missing).toEqual([])
})

import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'

const root = join(import.meta.dirname, '..')
/** Where an error gets its code: constructors, and functions that call them. */
const codeGiven =
  /(?:Problem|PermanentError|TransientError|unavailable|unauthorized)\(\s*(?:\d{3},\s*)?'([A-Z][A-Z0-9_]+)'/g

function codesInSource(): Set<string> {
  const files = globSync('{runtime,http,services,capture,schemas,infra,evals,sdk,scripts}/**/*.ts', {
    cwd: root,
  })
  const sources = files.filter((file) => !/\.test\.ts$|\/testing/.test(file))
  return new Set(
    sources.flatMap((file) =>
      [...readFileSync(join(root, file), 'utf8').matchAll(codeGiven)].map(([, code]) => String(code)),
    ),
  )
}

test('docs/errors.md lists every code that the source gives, and no other', () => {
  const page = readFileSync(join(import.meta.dirname, 'errors.md'), 'utf8')
  const listed = [...page.matchAll(/^\| `([A-Z0-9_]+)` \|/gm)].map(([, code]) => String(code))
  expect(new Set(listed).size).toBe(listed.length)
  expect([...listed].sort()).toEqual([...codesInSource()].sort())
})

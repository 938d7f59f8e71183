import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'

const root = join(import.meta.dirname, '..')
const sources = globSync('{runtime,services,capture,schemas,infra,scripts,tests/support}/**/*.ts', {
  cwd: root,
})
  .filter((path) => !path.endsWith('.test.ts'))
  .map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))

test('every advisory lock has a unique number: two tasks that share one would block each other', () => {
  const takersOf = new Map<string, string[]>()
  for (const { path, text } of sources) {
    for (const [, number = ''] of text.matchAll(/^(?:const \w*lock =|\s+\w+:) (7_355_\d+),?$/gim)) {
      takersOf.set(number, [...(takersOf.get(number) ?? []), path])
    }
  }
  expect(takersOf.size).toBeGreaterThan(6)
  expect([...takersOf].filter(([, paths]) => paths.length > 1)).toEqual([])
})

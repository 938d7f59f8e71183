import { expect, test } from '@jest/globals'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

// The countable rules of docs/dashboard/design.md.

const client = join(import.meta.dirname, 'client')
const files = globSync('**/*.{ts,tsx,css}', { cwd: client })
  .filter((name) => !/\.test\.ts$|^api\/operations\.d\.ts$/.test(name))
  .map((name) => ({ name, text: readFileSync(join(client, name), 'utf8') }))
const matching = (pattern: RegExp) => files.filter(({ text }) => pattern.test(text)).map(({ name }) => name)

test('colours have names, and stand for a role', () => {
  expect(matching(/#[0-9a-f]{3,8}\b(?!\/)|\brgba?\(/i)).toEqual([])
  const used = files.flatMap(({ text }) =>
    [...text.matchAll(/\b(?:color|c)=(?:"|\{')([a-z]+)(?:\.\d)?/g)].map(([, name]) => name),
  )
  const roles = ['red', 'yellow', 'green', 'gray', 'blue', 'orange', 'dimmed']
  expect([...new Set(used)].filter((name) => !roles.includes(String(name)))).toEqual([])
})

test('times and numbers have one form, made in formats/', () => {
  const makers = matching(/Intl\.\w+Format\(|toLocale\w*String\(/)
  expect(makers.filter((name) => !name.startsWith('formats/'))).toEqual([])
})

test('sizes of text are those of the scale', () => {
  const sized = files.flatMap(({ text }) => [...text.matchAll(/\bfz=(?:"|\{)(\w+)/g)].map(([, size]) => size))
  expect([...new Set(sized)].sort()).toEqual(['20', 'sm', 'xs'])
})

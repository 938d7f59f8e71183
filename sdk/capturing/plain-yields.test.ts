import { expect, test } from '@jest/globals'
import { createPlainYields } from './plain-yields.ts'

function listed(...values: unknown[]): unknown[] {
  const yields = createPlainYields()
  for (const value of values) yields.add(value)
  return yields.list()
}

test('an answer that comes in pieces is one text, however many', () => {
  const pieces = Array.from({ length: 3_000 }, (_, index) => `${index} `)
  expect(listed('Mail j', 'ane@exa', 'mple.com', 5, ...pieces)).toEqual([
    'Mail jane@example.com',
    5,
    pieces.join(''),
  ])
  expect(listed(...'\u{1f600}'.split(''))).toEqual(['\u{1f600}'])
})

test('what is too long or too much is cut, and says so', () => {
  const long = `${'x'.repeat(65_535)}\u{1f600}`
  expect(listed(long, 'y', 1)).toEqual([`${'x'.repeat(65_535)}… (3 more characters)`, 1])
  expect(listed('x'.repeat(65_536), 'y')).toEqual([`${'x'.repeat(65_536)}… (1 more characters)`])
  const halves = ['x'.repeat(65_535), ...'\u{1f600}'.split('')]
  expect(listed(...halves)).toEqual([`${'x'.repeat(65_535)}… (2 more characters)`])
  const numbers = Array.from({ length: 1_200 }, (_, index) => index)
  expect(listed(...numbers)).toEqual([...numbers.slice(0, 1_000), '[200 more]'])
  const texts = Array.from({ length: 40 }, () => ['x'.repeat(60_000), 1]).flat()
  expect(JSON.stringify(listed(...texts)).length).toBeLessThan(1_200_000)
})

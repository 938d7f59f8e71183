import { expect, test } from '@jest/globals'
import { hasLonePoint } from './has-lone-point.ts'

const points = (text: string) => Array.from(text, (each) => [each === '-' ? null : Number(each), 1])

test.each([
  ['the first hour of all', '---7', true],
  ['between two without calls', '12-7-12', true],
  ['at the beginning', '7-12', true],
  ['two beside each other', '--77', false],
  ['none', '----', false],
])('%s', (_name, text, expected) => {
  expect(hasLonePoint(points(text))).toBe(expected)
})

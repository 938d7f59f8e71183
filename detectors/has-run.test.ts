import { expect, test } from '@jest/globals'
import { charactersOf, hasRun } from './has-run.ts'

const digits = charactersOf(/\d/)

test.each([
  ['', false],
  ['123', false],
  ['1234', true],
  ['a1234', true],
  ['ab1234c', true],
  ['abc1234', true],
  ['123a456b7890', true],
  ['123a456b789', false],
  ['12３４5678', true],
  ['12３４567', false],
])('four digits in a row in %j: %j', (text, is) => {
  expect(hasRun(text, digits, 4)).toBe(is)
})

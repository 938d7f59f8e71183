import { expect, test } from '@jest/globals'
import { createCopyFinder } from './near-copies.ts'

const copied = createCopyFinder(['One two three four five six seven eight nine.', 'Short one!'])

test.each([
  ['in other case and signs', 'one, two three four five six SEVEN eight nine', 1],
  ['with a word put before it', 'Well, one two three four five six seven eight nine', 2 / 3],
  ['whose words come in another order', 'nine eight seven six five four three two one', 0],
  ['short and whole', 'short one', 1],
  ['short and part of a longer one', 'two three', 0],
  ['of no words', '…', 0],
])('a text %s', (_name, text, share) => {
  expect(copied(text)).toBeCloseTo(share)
})

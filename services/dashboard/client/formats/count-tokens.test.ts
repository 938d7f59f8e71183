import { expect, test } from '@jest/globals'
import { countTokens, describeTokens } from './count-tokens.ts'
import { absent, formatCount } from './format-number.ts'

const counts = (
  prompt_tokens: number | null,
  cached_tokens: number | null,
  completion_tokens: number | null,
  reasoning_tokens: number | null,
) => ({ prompt_tokens, cached_tokens, completion_tokens, reasoning_tokens })

test.each([
  [
    'a prompt mostly from the cache and an answer mostly thought',
    counts(400, 9_600, 50, 450),
    [10_000, 500, 10_500],
    '10000 in (9600 cached), 500 out (450 reasoning)',
  ],
  ['nothing cached, nothing thought', counts(12, 0, 6, null), [12, 6, 18], '12 in, 6 out'],
  ['a prompt alone', counts(12, null, null, null), [12, null, 12], `12 in, ${absent} out`],
  ['a prompt that was cached whole', counts(null, 7, 0, null), [7, 0, 7], '7 in (7 cached), 0 out'],
  [
    'a call of which nothing is known',
    counts(null, null, null, null),
    [null, null, null],
    `${absent} in, ${absent} out`,
  ],
])('%s', (_name, tokens, [read, written, all], said) => {
  expect(countTokens(tokens)).toEqual({ read, written, all })
  // In the locale's digits.
  expect(describeTokens(tokens)).toBe(said.replaceAll(/\d+/g, (digits) => formatCount(Number(digits))))
})

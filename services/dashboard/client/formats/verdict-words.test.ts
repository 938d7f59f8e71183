import { expect, test } from '@jest/globals'
import { describeReading, type ShownReading } from './verdict-words.ts'

test.each<[words: string | undefined, reading: ShownReading]>([
  [
    'No finding · 7 of 9 scorers decided',
    { verdict: 'no_finding', coverage: { decided: 7, applicable: 9 }, unread_scorers: [] },
  ],
  [
    'Partly read · 1 of 3 scorers decided · not read by content_safety, vector_weakness',
    {
      verdict: 'partly_read',
      coverage: { decided: 1, applicable: 3 },
      unread_scorers: ['content_safety', 'vector_weakness'],
    },
  ],
  [
    'Not read · 0 of 1 scorer decided · not read by pii_detection',
    { verdict: 'not_read', coverage: { decided: 0, applicable: 1 }, unread_scorers: ['pii_detection'] },
  ],
  [
    'No finding · no scorer applies',
    { verdict: 'no_finding', coverage: { decided: 0, applicable: 0 }, unread_scorers: [] },
  ],
  [undefined, { verdict: null, coverage: null, unread_scorers: [] }],
])('%s', (words, reading) => {
  expect(describeReading(reading)).toBe(words)
})

import { expect, test } from '@jest/globals'
import { builtInScorers, type BuiltInScorer } from '#schemas/verdicts.ts'
import { outgrows } from '#tests/support/cpu-growth.ts'
import { detectCall } from './testing/detect-call.ts'
import { builtIns } from './built-in-scorers.ts'

/** Long texts are read in pieces of 64 Ki units, so linear in a piece means linear overall. */
const longest = 24_576

const units = [
  ...['a ', 'a', '1', '1 ', 'x1 ', 'A', '你', '\u200b', 'é', '𝒂', '🔓'],
  ...[
    '\n',
    '\n ',
    '\t',
    '.',
    '. ',
    'a.',
    ' - ',
    '|',
    '!',
    '"',
    '"a": ',
    "'}",
    '{"',
    '[',
    '](',
    '(',
    '`',
    '\\',
  ],
  ...['<', '<!--', '<a ', '<a>', '</', '@', 'a@', 'http://', '+1 ', '0-', ':', 'AB12 ', 'eyJa.', '%', 'f0'],
  ...[
    'ignore ',
    'ignore all previous ',
    'you are ',
    'your reply ',
    'please send my ',
    'kill them all ',
    'no matter ',
  ],
  ...[
    'rm -rf ',
    'pip install ',
    'curl ',
    'delete from a ',
    'secret a1-',
    'password=',
    'I am sorry ',
    'system: ',
  ],
]

function detectIn(scorer: BuiltInScorer, text: string): void {
  const messages = ['system', 'tool', 'user'].map((role) => ({ role, content: text }))
  detectCall(
    builtIns[scorer].create,
    { messages },
    { choices: [{ message: { role: 'assistant', content: text } }] },
  )
}

test.each(builtInScorers)('hostile text cannot make %s do more than its length is worth', (scorer) => {
  const slow = units.filter((unit) =>
    outgrows(
      longest,
      (length) => unit.repeat(Math.ceil(length / unit.length)).slice(0, length),
      (text) => {
        detectIn(scorer, text)
      },
    ),
  )
  expect(slow).toEqual([])
})

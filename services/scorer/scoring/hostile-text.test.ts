import { expect, test } from '@jest/globals'
import { builtInScorers, type BuiltInScorer } from '#schemas/verdicts.ts'
import { detectCall } from '../testing/detect-call.ts'
import { builtIns } from './built-in-scorers.ts'

/** Long texts are read in pieces of 64 Ki units: what is linear in a piece is linear in a text of any length. */
const [small, large] = [3_072, 24_576]
/** Linear work costs 8 times as much, quadratic 64 times. */
const mostTimes = 24
/** Less is noise. */
const leastMicroseconds = 15_000

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

/** CPU and not time: others work on this machine too. */
function cpuOf(scorer: BuiltInScorer, text: string): number {
  const messages = ['system', 'tool', 'user'].map((role) => ({ role, content: text }))
  const before = process.cpuUsage()
  detectCall(
    builtIns[scorer].create,
    { messages },
    { choices: [{ message: { role: 'assistant', content: text } }] },
  )
  const { user, system } = process.cpuUsage(before)
  return user + system
}

test.each(builtInScorers)('hostile text cannot make %s do more than its length is worth', (scorer) => {
  const slow = units.filter((unit) => {
    const ofLength = (length: number) => unit.repeat(Math.ceil(length / unit.length)).slice(0, length)
    const isSlow = () => {
      const cost = cpuOf(scorer, ofLength(large))
      return cost > leastMicroseconds && cost > mostTimes * cpuOf(scorer, ofLength(small))
    }
    // Once may be the collector's work.
    return isSlow() && isSlow() && isSlow()
  })
  expect(slow).toEqual([])
})

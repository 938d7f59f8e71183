import { expect, test } from '@jest/globals'
import { builtInScorers, type BuiltInScorer } from '#schemas/verdicts.ts'
import { outgrows } from '#tests/support/cpu-growth.ts'
import { detectCall } from './testing/detect-call.ts'
import { builtIns } from './built-in-scorers.ts'
import { hostileUnits } from './testing/hostile-units.ts'

/** Long texts are read in pieces of 64 Ki units, so linear in a piece means linear overall. */
const longest = 24_576

function detectIn(scorer: BuiltInScorer, text: string): void {
  const messages = ['system', 'tool', 'user'].map((role) => ({ role, content: text }))
  detectCall(
    builtIns[scorer].create,
    { messages },
    { choices: [{ message: { role: 'assistant', content: text } }] },
  )
}

test.each(builtInScorers)('hostile text cannot make %s do more than its length is worth', (scorer) => {
  const slow = hostileUnits.filter((unit) =>
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

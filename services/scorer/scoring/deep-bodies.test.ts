import { expect, jest, test } from '@jest/globals'
import { builtInScorers } from '#schemas/verdicts.ts'
import { outgrows } from '#tests/support/cpu-growth.ts'
import { detectRead } from '#detectors/testing/detect-call.ts'
import { builtIns } from '#detectors/built-in-scorers.ts'
import { parseBody, readCall } from '#detectors/call-text.ts'
import { searchablesOf } from './custom/searchable.ts'

// Some take over 30 s beside two other test runs on two cores.
jest.setTimeout(120_000)

const levels = 6_000

/** Texts in alternating objects and lists, with names that make pointers long. */
const nested = (depth: number) =>
  `${`{"ab":"Go on.","${'in_'.repeat(20)}":["Go on.",`.repeat(depth / 2)}1${']}'.repeat(depth / 2)}`

const places = ['system', 'tool', 'user', 'answer', 'arguments'] as const

test.each(builtInScorers.flatMap((scorer) => places.map((place) => [scorer, place] as const)))(
  'a text on each of many levels costs %s what it is worth: %s',
  (scorer, place) => {
    const make = (depth: number): [string, string] => {
      const said = (where: string) => (where === place ? nested(depth) : '"Go on."')
      const turns = places.slice(0, 3).map((role) => `{"role":"${role}","content":${said(role)}}`)
      const call = `{"function":{"name":"f","arguments":${said('arguments')}}}`
      const message = `{"role":"assistant","content":${said('answer')},"tool_calls":[${call}]}`
      return [`{"messages":[${turns.join(',')}]}`, `{"message":${message}}`]
    }
    // Read afresh each time: a pointer, once flattened, is cheaper to read again.
    const detect = ([request, response]: [string, string]) =>
      detectRead(builtIns[scorer].create, readCall(parseBody(request), parseBody(response)))
    expect(outgrows(levels, make, detect)).toBe(false)
  },
)

test('and to look for command lines, which stand in lists, in what a tool is called with', () => {
  const make = (depth: number) => {
    const called = { function: { name: 'f', arguments: nested(depth) } }
    return JSON.stringify({ message: { role: 'assistant', tool_calls: [called] } })
  }
  const search = (json: string) => searchablesOf(readCall(null, parseBody(json)))('tool_arguments')
  expect(outgrows(levels, make, search)).toBe(false)
})

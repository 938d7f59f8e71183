import { expect, test } from '@jest/globals'
import { assembleStream } from './assemble-stream.ts'

type Call = [id: string | null, name: string | undefined, text: string]
const part = (index: number | null, id: string | null, name: string | null, text: string | null) => ({
  ...(index === null ? {} : { index }),
  ...(id === null ? {} : { id }),
  function: { ...(name === null ? {} : { name }), ...(text === null ? {} : { arguments: text }) },
})
const callsIn = (pieces: readonly object[]): Call[] => {
  const events = pieces.map((piece) => ({
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta: { tool_calls: [piece] } }],
  }))
  const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
  const [choice] = (assembleStream(text)?.body['choices'] ?? []) as { message: { tool_calls: Made[] } }[]
  return (choice?.message.tool_calls ?? []).map(({ id, function: made }) => [
    id ?? null,
    made?.name,
    made?.arguments ?? '',
  ])
}
interface Made {
  id?: string
  function?: { name?: string; arguments?: string }
}

const [f, g] = [
  ['a', 'f', '{"x":1}'],
  ['b', 'g', '{"y":2}'],
] as [Call, Call]
const nameless = (calls: readonly Call[]): Call[] => calls.map(([, name, text]) => [null, name, text])

test.each<[string, object[], Call[]]>([
  [
    'no index, an identifier in each',
    [
      part(null, 'a', 'f', '{"x"'),
      part(null, 'a', null, ':1}'),
      part(null, 'b', 'g', '{"y"'),
      part(null, 'b', null, ':2}'),
    ],
    [f, g],
  ],
  [
    'no index, in turn',
    [
      part(null, 'a', 'f', '{"x"'),
      part(null, 'b', 'g', '{"y"'),
      part(null, 'a', null, ':1}'),
      part(null, 'b', null, ':2}'),
    ],
    [f, g],
  ],
  [
    'no index, an identifier in the first',
    [
      part(null, 'a', 'f', '{"x"'),
      part(null, null, null, ':1}'),
      part(null, 'b', 'g', '{"y"'),
      part(null, null, null, ':2}'),
    ],
    [f, g],
  ],
  [
    'neither index nor identifier',
    [
      part(null, null, 'f', '{"x"'),
      part(null, null, null, ':1}'),
      part(null, null, 'g', '{"y"'),
      part(null, null, null, ':2}'),
    ],
    nameless([f, g]),
  ],
  [
    'neither, the name in each, in turn',
    [
      part(null, null, 'f', '{"x"'),
      part(null, null, 'g', '{"y"'),
      part(null, null, 'f', ':1}'),
      part(null, null, 'g', ':2}'),
    ],
    nameless([f, g]),
  ],
  [
    'one index, no identifiers',
    [
      part(0, null, 'f', ''),
      part(0, null, null, '{"x":1}'),
      part(0, null, 'g', ''),
      part(0, null, null, '{"y":2}'),
    ],
    nameless([f, g]),
  ],
  [
    'one index, in turn, an identifier in each',
    [
      part(0, 'a', 'f', '{"x"'),
      part(0, 'b', 'g', '{"y"'),
      part(0, 'a', null, ':1}'),
      part(0, 'b', null, ':2}'),
    ],
    [f, g],
  ],
  [
    'one index, two calls of a function without identifiers',
    [part(0, null, 'f', '{"x"'), part(0, null, 'f', ':1}'), part(0, null, 'f', '{"x":3}')],
    [
      [null, 'f', '{"x":1}'],
      [null, 'f', '{"x":3}'],
    ],
  ],
  [
    'all repeated in each',
    [
      part(0, 'a', 'f', ''),
      part(0, 'a', 'f', '{"x":1'),
      part(1, 'b', 'g', '{"y"'),
      part(0, 'a', 'f', '}'),
      part(1, 'b', 'g', ':2}'),
      part(0, 'a', 'f', ''),
    ],
    [f, g],
  ],
  [
    'one identifier for all, no index',
    [part(null, 'a', 'f', '{"x":1}'), part(null, 'a', 'g', '{"y":2}')],
    [f, ['a', 'g', '{"y":2}']],
  ],
  [
    'one identifier for all, an index each',
    [part(0, 'a', 'f', '{"x"'), part(1, 'a', 'g', '{"y":2}'), part(0, 'a', null, ':1}')],
    [f, ['a', 'g', '{"y":2}']],
  ],
  [
    'the identifier late',
    [
      part(null, null, 'f', '{"x"'),
      part(null, 'a', null, ':1}'),
      part(0, null, 'g', '{'),
      part(0, 'b', null, '"y":2}'),
    ],
    [f, g],
  ],
  ['the name late', [part(0, 'a', null, ''), part(0, null, 'f', '{"x":1}')], [f]],
  ['the index late', [part(null, 'a', 'f', '{"x"'), part(0, null, null, ':1}')], [f]],
  ['the index in the first alone', [part(0, 'a', 'f', '{"x"'), part(null, null, null, ':1}')], [f]],
  [
    'the name in pieces',
    [part(0, 'a', 'get_', ''), part(0, null, 'weather', ''), part(0, null, null, '{}')],
    [['a', 'get_weather', '{}']],
  ],
  [
    'no arguments',
    [part(0, 'a', 'f', null), part(0, 'b', 'f', null)],
    [
      ['a', 'f', ''],
      ['b', 'f', ''],
    ],
  ],
])('calls of whose pieces: %s', (_name, pieces, calls) => {
  expect(callsIn(pieces)).toEqual(calls)
})

test('more calls than any answer has share the last, and lose no word', () => {
  const calls = callsIn(Array.from({ length: 1_030 }, (_, at) => part(null, `c${at}`, 'f', `{"at":${at}}`)))
  expect(calls).toHaveLength(1_024)
  expect(calls.at(-1)?.[2]).toContain('{"at":1029}')
})

test('arguments that are an object, and what is no call', () => {
  const given = { function: { name: 'f', arguments: { command: 'ls' } } }
  expect(callsIn([given, given, 'a word' as unknown as object])).toEqual([
    [null, 'f', { command: 'ls' }],
    [null, 'f', { command: 'ls' }],
    [null, undefined, ''],
  ])
})

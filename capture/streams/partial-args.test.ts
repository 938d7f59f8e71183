import { expect, test } from '@jest/globals'
import { toolCallsOf } from '../tool-calls.ts'
import { assembleStream } from './assemble-stream.ts'

// `FunctionCall` and `PartialArg` of @google/genai.
const sse = (...parts: object[]) =>
  parts
    .map((part) => ({ candidates: [{ content: { role: 'model', parts: [part] } }] }))
    .concat({ candidates: [{ content: { role: 'model', parts: [] }, finishReason: 'STOP' }] } as never)
    .map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
    .join('')
const begun = (name: string) => ({ functionCall: { name, willContinue: true } })
const piece = (...partialArgs: object[]) => ({ functionCall: { partialArgs, willContinue: true } })
const ended = { functionCall: {} }
const body = (...parts: object[]) => assembleStream(sse(...parts))?.body
const argsOf = (...pieces: object[]): unknown => {
  const [call] = toolCallsOf(null, body(begun('f'), ...pieces.map((given) => piece(given)), ended))
  return JSON.parse(call?.arguments ?? '')
}
const text = (jsonPath: string, stringValue: string) => ({ jsonPath, stringValue, willContinue: true })

test('arguments that come in pieces are those of one call', () => {
  const parts = [
    { ...begun('send_mail'), thoughtSignature: 's' },
    piece(text('$.body', 'card 4111 11')),
    piece(text('$.body', '11 1111 1111'), { jsonPath: '$.copies', numberValue: 2 }),
    ended,
  ]
  expect(body(...parts)).toEqual({
    candidates: [
      {
        content: {
          role: 'model',
          parts: [
            {
              thoughtSignature: 's',
              functionCall: { name: 'send_mail', args: { body: 'card 4111 1111 1111 1111', copies: 2 } },
            },
          ],
        },
        finishReason: 'STOP',
      },
    ],
  })
})

test('several calls, one after the other, words between them', () => {
  const parts = [
    begun('f'),
    piece(text('$.a', 'b')),
    ended,
    { text: 'Hm.' },
    { functionCall: { name: 'whole', args: { a: 1 } } },
    begun('f'),
    { functionCall: { partialArgs: [{ jsonPath: '$.a', stringValue: 'c' }] } },
    { functionCall: { name: 'g', partialArgs: [{ jsonPath: '$.a', boolValue: false }] } },
    begun('cut'),
    piece(text('$.a', 'rm -rf')),
  ]
  expect(toolCallsOf(null, body(...parts))).toEqual([
    { name: 'f', arguments: '{"a":"b"}' },
    { name: 'whole', arguments: '{"a":1}' },
    { name: 'f', arguments: '{"a":"c"}' },
    { name: 'g', arguments: '{"a":false}' },
    { name: 'cut', arguments: '{"a":"rm -rf"}' },
  ])
})

test.each<[string, object[], unknown]>([
  // prettier-ignore
  ['objects and lists', [text('$.to[0].name', 'A'), text('$.to[0].name', 'B'), text('$.to[1].name', 'C')], { to: [{ name: 'AB' }, { name: 'C' }] }],
  // prettier-ignore
  ['names in quotes', [text(`$['a b']["c.d"]`, 'x'), text(`$['it\\'s']`, 'y')], { 'a b': { 'c.d': 'x' }, "it's": 'y' }],
  // prettier-ignore
  ['all kinds of values', [{ jsonPath: '$.a', nullValue: 'NULL_VALUE' }, { jsonPath: '$.b', boolValue: true }, { jsonPath: '$.c', numberValue: 0 }], { a: null, b: true, c: 0 }],
  ['a piece without a value', [text('$.a', 'x'), { jsonPath: '$.a', willContinue: false }], { a: 'x' }],
  ['an entry that was left out', [text('$.a[2]', 'x')], { a: [null, null, 'x'] }],
])('pieces stand where they say: %s', (_name, pieces, args) => {
  expect(argsOf(...pieces)).toEqual(args)
})

test.each<[string, object[], unknown]>([
  [
    'an index far off',
    [text('$.a[1000000000]', 'x'), text('$.a[1000000000]', 'y')],
    { '$.a[1000000000]': 'xy' },
  ],
  ['an index beyond what is there', [text('$.a[99]', 'x')], { a: [], '$.a[99]': 'x' }],
  // prettier-ignore
  ['no path', [text('a', 'x'), { stringValue: 'y' }, text('$', 'z'), text('$..b', 'w')], { a: 'x', '': 'y', $: 'z', '$..b': 'w' }],
  ['a name within a text', [text('$.a', 'x'), text('$.a.b', 'y')], { a: 'x', '$.a.b': 'y' }],
  ['a text in place of an object', [text('$.a.b', 'x'), text('$.a', 'y')], { a: { b: 'x' }, '$.a': 'y' }],
  ['a name in a list', [text('$.a[0]', 'x'), text('$.a.b', 'y')], { a: ['x'], '$.a.b': 'y' }],
  ['a path that is too deep', [text(`$${'.a'.repeat(40)}`, 'x')], { [`$${'.a'.repeat(40)}`]: 'x' }],
])('nothing gets lost: %s', (_name, pieces, args) => {
  expect(argsOf(...pieces)).toEqual(args)
})

test('names that objects have by themselves are names', () => {
  const args = argsOf(text('$.__proto__.polluted', 'x'), text('$.constructor.prototype', 'y'))
  expect(JSON.stringify(args)).toBe('{"__proto__":{"polluted":"x"},"constructor":{"prototype":"y"}}')
  const whole = { functionCall: { name: 'f', args: { a: { b: 1 } }, willContinue: true } }
  const pieces = piece(
    text('$.a.__proto__.polluted', 'x'),
    text('$.a.constructor.polluted', 'y'),
    text('$.a.c', 'z'),
  )
  expect(toolCallsOf(null, body(whole, pieces, ended))[0]?.arguments).toBe(
    '{"a":{"b":1,"__proto__":{"polluted":"x"},"constructor":{"polluted":"y"},"c":"z"}}',
  )
  expect('polluted' in {} || 'polluted' in Object).toBe(false)
})

test('a hostile stream takes no room beyond its own', () => {
  const deep = Array.from({ length: 20_000 }, (_, at) => text(`$.n${at}${'[0]'.repeat(30)}`, 'x'))
  const far = Array.from({ length: 20_000 }, (_, at) => text(`$.n${at}[16]`, 'x'))
  for (const pieces of [deep, far]) {
    const given = sse(begun('f'), piece(...pieces), ended)
    expect(JSON.stringify(assembleStream(given)?.body).length).toBeLessThan(2 * given.length)
  }
})

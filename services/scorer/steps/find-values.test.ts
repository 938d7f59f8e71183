import { expect, test } from '@jest/globals'
import { hashValue } from '#schemas/value-hash.ts'
import { parseBody, readCall, type Call, type Evidence } from '#detectors/call-text.ts'
import type { NamedVerdict, Verdict } from '#detectors/verdict.ts'
import { createValueFinder } from './find-values.ts'

const key = Buffer.alloc(32, 7)
const card = '4111 1111 1111 1111'
const body = (value: unknown) => parseBody(JSON.stringify(value))
const asks = (content: string): Call =>
  readCall(body({ messages: [{ role: 'user', content }] }), body({ choices: [] }))
const at = (start: number, end: number, changes: Partial<Evidence> = {}): Evidence => ({
  ...{ part: 'request_body', pointer: '/messages/0/content', kind: 'payment_card' },
  ...{ start, end, ...changes },
})

function unsafe(evidence: readonly Evidence[], scorer = 'pii_detection', changes: Partial<Verdict> = {}) {
  const verdict: Verdict = {
    ...{ value: 5, label: 'unsafe', severity: 'critical', method: 'detector', reason: null },
    ...{ rationale: '', contentFreeRationale: '', evidence, ...changes },
  }
  return { scorer, version: '1', owaspCategory: null, verdict } satisfies NamedVerdict
}
const find = (call: Call, named: NamedVerdict, given: Buffer | null = key) =>
  createValueFinder(call, null, given)(named)
const hashOf = (text: string, scorer = 'pii_detection') => hashValue(key, scorer, text)

test('equal values are one, whatever separates their digits', () => {
  const call = asks(`${card} and 4111-1111-1111-1111`)
  expect(find(call, unsafe([at(0, 19), at(24, 43)]))).toEqual({
    found_values: [{ kind: 'payment_card', tool: null, hash: hashOf(card) }],
    found_more: false,
  })
})

test('without a key kinds are known, values are not', () => {
  expect(find(asks(card), unsafe([at(0, 19)]), null)).toEqual({
    found_values: [{ kind: 'payment_card', tool: null, hash: null }],
    found_more: false,
  })
})

test.each<[string, Partial<Verdict>]>([
  ['safe', { label: 'safe', value: 1, severity: null }],
  ['unscored', { label: 'unscored', value: null, severity: null }],
])('nothing of what is %s', (_name, changes) => {
  expect(find(asks(card), unsafe([at(0, 19)], 'pii_detection', changes))).toEqual({
    found_values: null,
    found_more: null,
  })
})

test('an unsafe verdict without a span found no value', () => {
  expect(find(asks(card), unsafe([]))).toEqual({ found_values: [], found_more: false })
})

test.each([
  ['more than ten values', Array.from({ length: 11 }, (_, index) => at(index, index + 1)), 10],
  ['evidence as long as a detector collects', Array.from({ length: 20 }, () => at(0, 19)), 1],
])('%s: there may be more', (_name, evidence, count) => {
  const { found_values: values, found_more: hasMore } = find(asks('abcdefghijklmnopqrstuv'), unsafe(evidence))
  expect([values?.length, hasMore]).toEqual([count, true])
})

test('of a truncated body the text as scorers read it, of a list of pieces their joined text', () => {
  const raw = `{"image":"${'QUJD'.repeat(500)}","text":"${card}"`
  const truncated = readCall(body({ truncated: true, raw }), body({ output: ['4111 1111', ' 1111 1111'] }))
  const [text = { text: '', pointer: '' }] = truncated.texts
  const start = text.text.indexOf(card)
  expect(start).toBeGreaterThan(0)
  const evidence = [
    at(start, start + card.length, { pointer: text.pointer }),
    at(0, 19, { part: 'response_body', pointer: '/output' }),
  ]
  expect(find(truncated, unsafe(evidence)).found_values).toEqual([
    { kind: 'payment_card', tool: null, hash: hashOf(card) },
  ])
})

test('a passage of the JSON text, and one that is not there', () => {
  const call = asks('x')
  const json = call.request?.json ?? ''
  const { found_values: values } = find(
    call,
    unsafe([at(0, json.length, { pointer: null }), at(0, 1, { pointer: '/none' })], 'jailbreak_detection'),
  )
  expect(values?.map(({ hash }) => hash)).toEqual([hashOf(json, 'jailbreak_detection'), null])
})

test.each<[string, string, Partial<Verdict>]>([
  ['a custom scorer', 'destructive', { method: 'custom' }],
  ['excessive_agency', 'excessive_agency', {}],
])('%s: a command that was taken apart counts whole', (_name, scorer, changes) => {
  const list = ['rm', '-rf', '/data']
  const json = '{"command":"rm -rf /data"}'
  const call = readCall(
    body({ messages: [] }),
    body({
      content: [{ type: 'tool_use', name: 'run', input: { argv: list } }],
      choices: [{ message: { tool_calls: [{ function: { name: 'sh', arguments: json } }] } }],
    }),
  )
  const part = { part: 'response_body' as const, kind: 'rm' }
  const evidence = [
    at(0, 2, { ...part, pointer: '/content/0/input/argv/0' }),
    at(0, 6, { ...part, pointer: '/choices/0/message/tool_calls/0/function/arguments' }),
  ]
  expect(find(call, unsafe(evidence, scorer, changes)).found_values).toEqual([
    { kind: 'rm', tool: 'run', hash: hashOf(JSON.stringify(list), scorer) },
    { kind: 'rm', tool: 'sh', hash: hashOf(json, scorer) },
  ])
})

test('text that Postgres refuses is replaced, and long names are cut', () => {
  const { found_values: values } = find(asks('x'), unsafe([at(0, 1, { kind: `a\u0000${'x'.repeat(500)}` })]))
  expect(values?.[0]?.kind).toBe(`a\uFFFD${'x'.repeat(198)}`)
})

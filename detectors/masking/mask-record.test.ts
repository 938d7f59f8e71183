import { describe, expect, test } from '@jest/globals'
import { objectOf } from '#capture/json.ts'
import { dropBodies, maskRecord } from './mask-record.ts'

const key = Buffer.alloc(32, 7)
const mask = (record: object | string, under = key) =>
  maskRecord(Buffer.from(typeof record === 'string' ? record : JSON.stringify(record)), under).toString()
const maskedOf = (json: string) => (JSON.parse(json) as { masked: unknown }).masked
/** A record with a text as the user's words. */
const saying = (content: string) => ({ id: 'req_1', request_body: { messages: [{ role: 'user', content }] } })

const values = {
  payment_card: ['4111 1111 1111 1111', 'my card is '],
  iban: ['DE89370400440532013000', 'IBAN '],
  national_id: ['078-05-1120', 'SSN: '],
  email_address: ['jane.roe@acme.org', 'write to '],
  phone_number: ['+49 170 1234567', 'call me at '],
  ip_address: ['81.2.69.142', 'from IP '],
  passport: ['4508 123456', 'Паспорт гражданина РФ: '],
  secret: ['sk-proj-abcdefghijklmnop1234567890ABCD', 'the key '],
} as const

const text = (kind: keyof typeof values) => `${values[kind][1]}${values[kind][0]} please`
const sse = 'data: {"x":1}\n\n'

const places: readonly [name: string, record: (text: string) => object, place: string][] = [
  ['a message', (given) => saying(given), 'request_body'],
  [
    'the part of a message',
    (given) => ({ request_body: { messages: [{ content: [{ type: 'text', text: given }] }] } }),
    'request_body',
  ],
  [
    'an answer',
    (content) => ({ request_body: {}, response_body: { choices: [{ message: { content } }] } }),
    'response_body',
  ],
  [
    "a tool's arguments, JSON in a string",
    (note) => ({
      request_body: {
        messages: [{ tool_calls: [{ function: { arguments: JSON.stringify({ a: { note } }) } }] }],
      },
    }),
    'request_body',
  ],
  [
    'JSON in JSON in a string',
    (note) => ({ request_body: { arguments: JSON.stringify({ body: JSON.stringify([note]) }) } }),
    'request_body',
  ],
  [
    "a tool's result",
    (given) => ({
      request_body: { type: 'mcp_tool_call', tool_name: 't', arguments: {} },
      response_body: { result: [given] },
    }),
    'response_body',
  ],
  ['a request that is no JSON', (raw) => ({ request_body: { raw, encoding: 'utf8' } }), 'request_body'],
  [
    'a list as a request',
    (given) => ({ request_body: { raw: JSON.stringify([{ given }]), encoding: 'utf8' } }),
    'request_body',
  ],
  [
    'the joined words of a stream',
    (given) => ({ request_body: {}, response_body: { raw: sse, encoding: 'utf8', joined: [given] } }),
    'response_body',
  ],
  ['an error', (error) => ({ request_body: {}, error }), 'error'],
]

describe.each(places)('in %s', (_name, record, place) => {
  test.each(Object.keys(values) as (keyof typeof values)[])('%s is masked', (kind) => {
    const json = mask(record(text(kind)))
    expect(json).not.toContain(values[kind][0])
    expect(json).toMatch(new RegExp(String.raw`\[${kind.toUpperCase()}:[a-f]{20}\]`))
    expect(maskedOf(json)).toEqual([{ kind, place, count: 1 }])
  })
})

test.each([
  ['escapes', String.raw`{"request_body":{"a":"write to jane.roe\u0040acme\u002eorg"}}`, 'acme'],
  [
    'escapes within JSON in a string',
    JSON.stringify({ request_body: { a: String.raw`{"to":"jane.roe\u0040acme.org"}` } }),
    'acme',
  ],
  ['a number', '{"request_body":{"card":4111111111111111}}', '4111111111111111'],
  ['a number beyond 2^53', '{"request_body":{"card_number":6304000000000000000}}', '6304000000000000000'],
  ['a key that names the value', '{"request_body":{"customer":{"ssn":"078051120"}}}', '078051120'],
  [
    'base64',
    JSON.stringify(saying(`see ${Buffer.from('jane.roe@acme.org, call me').toString('base64')}`)),
    'amFuZS5yb2V',
  ],
  [
    'an address in one field, a name in another',
    '{"request_body":{"input":{"customer_name":"Jane Roe","address":"12 High Street, Springfield"}}}',
    '12 High Street',
  ],
])('%s: nothing is left of the value', (_name, json, value) => {
  expect(mask(json)).not.toContain(value)
})

test('everything else keeps its bytes, also numbers, spaces and the order of names', () => {
  const body = String.raw`{ "n":12345678901234567890, "b":1.0e3,"e":"\u00e9\/", "":[ ] ,"messages":[{"content":"jane.roe@acme.org"}],"n2":-0 }`
  const [before, after] = mask(`{"request_body":${body},"metadata":{"to":"jane.roe@acme.org"}}`).split(
    /"\[EMAIL_ADDRESS:\w+\]"/,
  )
  const [start, end] = body.split('"jane.roe@acme.org"')
  expect(before).toBe(`{"request_body":${start}`)
  expect(after).toBe(
    `${end},"metadata":{"to":"jane.roe@acme.org"},"masked":[{"kind":"email_address","place":"request_body","count":1}]}`,
  )
})

test('a picture in base64 is left alone', () => {
  const noise = Buffer.from('jane.roe@acme.org '.repeat(40)).map((byte, at) => byte ^ (at % 251))
  const url = `data:image/png;base64,${Buffer.from(noise).toString('base64')}`
  expect(mask({ request_body: { image_url: { url } } })).toContain(url)
})

test('the same value has the same placeholder in every form and call, and another one in another project', () => {
  const tagOf = (content: string, under = key) => /\[\w+:(\w+)\]/.exec(mask(saying(content), under))?.[1]
  const tag = tagOf('card 4111 1111 1111 1111')
  expect(tagOf('pay with 4111-1111-1111-1111 now')).toBe(tag)
  expect(tagOf('card 4111 1111 1111 1111', Buffer.alloc(32, 8))).not.toBe(tag)
  expect(tagOf('card 5555 5555 5555 4444')).not.toBe(tag)
})

test('masked again, a record stays as it is and keeps its counts', () => {
  const once = mask(saying(`${text('email_address')} ${text('secret')} password: Zx9!kk22LLq`))
  expect(mask(once)).toBe(once)
})

test.each([
  ['that was cut', { truncated: true, bytes: 9, sha256: 'x', text: 'jane.roe@acme.' }, 'cut'],
  ['that is no text', { raw: 'AAECAw==', encoding: 'base64' }, 'not_text'],
  ['whose chunks were not joined', { raw: sse, encoding: 'utf8', joined: [] }, 'cut'],
])('a body %s is dropped, and what it said of model and tokens is kept', (_name, body, fault) => {
  const answer = { model: 'gpt-4o', usage: { prompt_tokens: 3, completion_tokens: 4 } }
  const record = JSON.parse(mask({ request_body: body, response_body: answer })) as object
  expect(record).toMatchObject({
    request_body: { truncated: true, not_masked: fault },
    response_body: answer,
    prompt_tokens: 3,
    completion_tokens: 4,
    masked: [],
  })
  const again = mask(JSON.stringify(record))
  expect(again).toBe(JSON.stringify(record))
})

test('a record whose masking failed keeps neither body nor the words of its error', () => {
  const given = {
    ...saying('jane.roe@acme.org'),
    response_body: { model: 'gpt-4o', a: 'x' },
    error: 'jane.roe@acme.org',
  }
  const record = dropBodies(Buffer.from(JSON.stringify(given)), 'too_slow').toString()
  expect(record).not.toContain('acme')
  const parsed = JSON.parse(record) as Record<string, unknown>
  expect(objectOf(parsed['request_body'])).toMatchObject({ not_masked: 'too_slow' })
  expect([parsed['id'], parsed['model'], parsed['masked']]).toEqual(['req_1', 'gpt-4o', []])
})

import { expect, test } from '@jest/globals'
import { bodyJson } from './body-json.ts'

function read(text: string, contentType?: string) {
  const bytes = Buffer.from(text)
  const kept = { bytes, byteLength: bytes.length, sha256: undefined, end: bytes }
  const onDefect = (error: unknown) => {
    throw error
  }
  const { json, value } = bodyJson(
    kept,
    1_000,
    contentType === undefined ? undefined : { contentType, onDefect },
  )
  return { body: JSON.parse(json) as unknown, value }
}

const listed = '[{"text":"a"},{"text":"b"}]'

test.each([
  ['text/event-stream', 'data: {"text":"a"}\n\ndata: {"text":"b"}\n\n', { encoding: 'utf8', joined: ['ab'] }],
  ['application/json', listed, { raw: listed, joined: ['ab'] }],
  ['application/json', '[{"candidates":[{"content":{"parts":[{"text":"a"}]}}]}]', { candidates: [{}] }],
])('an answer in pieces is what they amount to, or has it beside them (%s)', (type, text, expected) => {
  expect(read(text, type).body).toMatchObject(expected)
})

test('a request in pieces is as it was sent', () => {
  expect(read(listed).body).toEqual({ raw: listed, encoding: 'utf8' })
})

test('an error in a list is what the answer says, and the list is kept', () => {
  const text = '[{"error":{"message":"API key not valid"}}]'
  const { body, value } = read(text, 'application/json')
  expect(value).toEqual({ error: { message: 'API key not valid' } })
  expect(body).toMatchObject({ raw: text })
})

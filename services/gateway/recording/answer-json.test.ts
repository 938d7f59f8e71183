import { expect, test } from '@jest/globals'
import { rethrow } from '../testing/rethrow.ts'
import { answerJson } from './answer-json.ts'
import { requestJson, type BodyJson } from './body-json.ts'

const whole = (text: string) => {
  const bytes = Buffer.from(text)
  return { bytes, byteLength: bytes.length, sha256: null }
}
const limit = 1_000

const words = ['The card is 41', '11 1111 1111', ' 1111.']
const said = 'The card is 4111 1111 1111 1111.'
test.each([
  [
    'a stream',
    'text/event-stream',
    words.map((content) => `data: ${JSON.stringify({ content })}\n\n`).join(''),
  ],
  ['lines of JSON', 'application/x-ndjson', words.map((text) => `${JSON.stringify({ text })}\n`).join('')],
  ['a list', 'application/json', JSON.stringify(words.map((text) => ({ text })))],
])('beside %s in a format that is not known stands what it amounts to', async (_name, contentType, raw) => {
  const answer = await answerJson({ ...whole(raw), contentType, contentEncoding: '' }, limit, rethrow)
  expect(JSON.parse(answer.json.toString())).toEqual({ raw, encoding: 'utf8', joined: [said] })
  // Requests are recorded as sent.
  const request = requestJson(whole(raw), '', limit) as BodyJson
  expect(JSON.parse(request.json.toString())).toEqual({ raw, encoding: 'utf8' })
})

test.each(['id: 5 is the one to take.', 'event: the summer party\n\nAll are welcome.', '[1] Smith et al.'])(
  'prose that begins as an answer in pieces is whole: %s',
  async (raw) => {
    const given = { ...whole(raw), contentType: 'text/plain', contentEncoding: '' }
    const answer = await answerJson(given, limit, rethrow)
    expect(JSON.parse(answer.json.toString())).toEqual({ raw, encoding: 'utf8' })
  },
)

test('a list of candidates is the message that it amounts to; of one that was cut its text', async () => {
  const parts = words.map((text) => ({ candidates: [{ content: { parts: [{ text }] } }] }))
  const listed = JSON.stringify(parts)
  const answer = { contentType: 'application/json', contentEncoding: '' }
  expect(await answerJson({ ...whole(`\n${listed}`), ...answer }, limit, rethrow)).toMatchObject({
    streamEnded: false,
    value: { candidates: [{ content: { parts: [{ text: said }] } }] },
  })
  const broken = await answerJson({ ...whole(listed.slice(0, -1)), ...answer }, limit, rethrow)
  expect(JSON.parse(broken.json.toString())).toMatchObject({ raw: listed.slice(0, -1), joined: [] })
})

import { expect, test } from '@jest/globals'
import { isMediaOnly, isPartWhole, parseBody, readCall } from './call-text.ts'

const sound = { media: 'audio', media_type: 'audio/mpeg', bytes: 9, sha256: '12345678'.repeat(8) }

test.each([
  ['an answer in sound', {}, sound, true],
  ['a transcript beside it', {}, { text: 'Good day to you', audio: sound }, false],
  [
    'a form with settings alone',
    { file: { ...sound, filename: 'a.mp3' }, model: 'm-1', language: 'en' },
    {},
    true,
  ],
  ['a form with a prompt', { file: sound, prompt: 'Make it blue' }, {}, false],
  ['no media', {}, { text: '' }, false],
])('%s', (_name, request, response, isUnread) => {
  const call = readCall(parseBody(JSON.stringify(request)), parseBody(JSON.stringify(response)))
  const part = Object.keys(request).length > 0 ? 'request_body' : 'response_body'
  expect([isMediaOnly(call, part), isPartWhole(call, part)]).toEqual([isUnread, !isUnread])
  // A hash of digits is no card number.
  expect(call.texts.some(({ text }) => text.includes('1234'))).toBe(false)
})

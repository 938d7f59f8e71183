import { expect, test } from '@jest/globals'
import { newId } from '#schemas/ids.ts'
import { readServiceHeaders } from './service-headers.ts'

test.each<[string, string]>([
  ['UTF-8', Buffer.from('Zoë').toString('latin1')],
  ['Latin-1, as fetch in JavaScript sends it', 'Zoë'],
])('a label in %s', (_name, sent) => {
  const { labels } = readServiceHeaders(new Map([['x-service-agent-name', sent]]), 0)
  expect(labels.agent_name).toBe('Zoë')
})

test.each<[string, string, boolean]>([
  ['an object', '{"a": [1, 1.50]}', true],
  ['what ingest writes again with more than it takes', `{"a":[${Array(3_000).fill('1e15').join()}]}`, false],
  ['a list', '[1]', false],
  ['no JSON', '{', false],
  ['eight levels', `{"a":${'['.repeat(7)}1${']'.repeat(7)}}`, true],
  ['ten levels', `{"a":${'['.repeat(9)}1${']'.repeat(9)}}`, false],
  ['NUL', '{"a":"\\u0000"}', false],
  ['NUL in a name', '{"\\u0000":1}', false],
  ['half a character', '{"a":["\\ud800"]}', false],
  ['a number that would lose digits', '{"a":9007199254740993}', false],
  ['too many spaces', `{"a":1${' '.repeat(16_384)}}`, false],
])('metadata: %s', (_name, metadata, isTaken) => {
  const { labels, malformed } = readServiceHeaders(new Map([['x-service-metadata', metadata]]), 0)
  expect([labels.metadata, malformed]).toEqual(isTaken ? [metadata, 0] : [undefined, 1])
})

test('declared context: places, or a mistake that is counted', () => {
  const read = (text: string) => readServiceHeaders(new Map([['x-service-context', text]]), 0)
  expect(read('1,/messages/2/content')).toMatchObject({
    labels: { context: ['1', '/messages/2/content'] },
    malformed: 0,
  })
  expect(read('messages')).toMatchObject({ labels: {}, malformed: 1 })
})

test.each<[string, string, boolean]>([
  ['of 256 characters', 'x'.repeat(256), true],
  ['of 257', 'x'.repeat(257), false],
])('a label %s', (_name, label, isTaken) => {
  const { labels, malformed } = readServiceHeaders(new Map([['x-service-user-id', label]]), 0)
  expect([labels.user_id, malformed]).toEqual(isTaken ? [label, 0] : [undefined, 1])
})

test('an empty label is none, and no mistake', () => {
  expect(readServiceHeaders(new Map([['x-service-session-id', '']]), 0)).toMatchObject({
    labels: {},
    malformed: 0,
  })
})

const nowMs = Date.UTC(2026, 10, 21)
const minuteMs = 60_000

test.each<[string, string, boolean]>([
  ['of now', newId('request', nowMs), true],
  ['of yesterday', newId('request', nowMs - 24 * 60 * minuteMs), true],
  [
    'of longer ago: its record may wait till ingest takes it no more',
    newId('request', nowMs - 25 * 60 * minuteMs),
    false,
  ],
  ['of a clock that is 90 minutes ahead', newId('request', nowMs + 90 * minuteMs), true],
  ['of one that is further ahead', newId('request', nowMs + 91 * minuteMs), false],
  ['of another kind', newId('score', nowMs), false],
])('an identifier %s', (_name, id, isTaken) => {
  const { requestId, malformed } = readServiceHeaders(new Map([['x-service-request-id', id]]), nowMs)
  expect([requestId, malformed]).toEqual(isTaken ? [id, 0] : [undefined, 1])
})

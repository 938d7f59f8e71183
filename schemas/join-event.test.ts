import { expect, test } from '@jest/globals'
import type { RaisedEvent } from './event-raised.ts'
import { newId } from './ids.ts'
import { InvalidEventData, joinEvent } from './join-event.ts'

const join = (
  data: string,
  content: string | null,
  event: 'threat_detected' | 'usage_alert' = 'usage_alert',
) => joinEvent(raised(event, data, content), { open: ({ data }) => data }).json()

function raised(event: 'threat_detected' | 'usage_alert', data: string, content: string | null): RaisedEvent {
  return {
    id: newId('event'),
    event,
    project_id: newId('project'),
    created_at: 0,
    data: Buffer.from(data),
    content: content === null ? null : { codec: 'none', key_id: null, data: Buffer.from(content) },
    content_id: null,
    webhook_id: null,
  }
}

test.each([
  ['nothing joins', '{"a":1}', null, '{"a":1}'],
  ['content follows', '{"a":1}', '{"b":"x"}', '{"a":1,"b":"x"}'],
  ['empty data', '{}', '{"b":2}', '{"b":2}'],
  ['empty content', ' {"a":1} ', '{ }', '{"a":1}'],
  ['both empty', '{}', '{}', '{}'],
  [
    'digits beyond 2^53',
    '{"a":1}',
    '{"arguments":{"n":12345678901234567890}}',
    '{"a":1,"arguments":{"n":12345678901234567890}}',
  ],
  ["a field in both: the content's", '{"a":1,"b":2}', '{"a":3}', '{"a":3,"b":2}'],
])('%s', (_name, data, content, expected) => {
  expect(join(data, content)).toBe(expected)
})

test('a threat without content has empty quotes', () => {
  const json = join('{"request_id":"req_1","tool_name":"ls"}', null, 'threat_detected')
  expect(JSON.parse(json)).toEqual({
    request_id: 'req_1',
    tool_name: 'ls',
    prompt_snippet: '',
    completion_snippet: null,
    arguments: {},
  })
})

test.each([
  ['b', { prompt_snippet: "b's", completion_snippet: null }],
  ['a', { prompt_snippet: "a's", completion_snippet: 'all' }],
])('the event of scorer %s quotes what that scorer found', (scorer, expected) => {
  const content = {
    prompt_snippet: "a's",
    completion_snippet: 'all',
    arguments: { n: 'N' },
    by_scorer: [null, { scorer_name: 'b', prompt_snippet: "b's", completion_snippet: null }],
  }
  // A number too large for JavaScript.
  const text = JSON.stringify(content).replace('"N"', '12345678901234567890')
  const json = join(JSON.stringify({ scorer_name: scorer }), text, 'threat_detected')
  expect(json).toContain('"arguments":{"n":12345678901234567890}')
  expect(JSON.parse(json)).toEqual({
    scorer_name: scorer,
    arguments: { n: Number('12345678901234567890') },
    ...expected,
  })
})

test('bytes that are not UTF-8 are refused, in the data and in the content', () => {
  const broken = Buffer.from('{"a":"\xff"}', 'latin1')
  const sealer = { open: ({ data }: { data: Buffer }) => data }
  const event = raised('usage_alert', '{}', '{}')
  const content = { codec: 'none', key_id: null, data: broken } as const
  expect(() => joinEvent({ ...event, data: broken }, sealer)).toThrow('the data of the event is not UTF-8')
  expect(() => joinEvent({ ...event, content }, sealer)).toThrow(InvalidEventData)
})

test.each(['', 'null', '[]', '"x"', '{', '{"a":1}}'])('%p is refused', (data) => {
  expect(() => join(data, null)).toThrow(InvalidEventData)
})

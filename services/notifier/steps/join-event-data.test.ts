import { expect, test } from '@jest/globals'
import { joinEventData } from './join-event-data.ts'

const join = (
  data: string,
  content: string | null,
  event: 'threat_detected' | 'usage_alert' = 'usage_alert',
) => joinEventData(event, Buffer.from(data), content === null ? null : Buffer.from(content)).json

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

test.each(['', 'null', '[]', '"x"', '{', '{"a":1}}'])('%p is refused', (data) => {
  expect(() => join(data, null)).toThrow(expect.objectContaining({ code: 'EVENT_DATA_INVALID' }))
})

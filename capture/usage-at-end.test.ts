import { expect, test } from '@jest/globals'
import { endBytes, lastBytes, withUsageAtEnd } from './usage-at-end.ts'

const read = (end: string, body = {}) => withUsageAtEnd(body, Buffer.from(end))

test.each([
  ['the last one', '"usage":{"a":1}},"text":"x","usage": {"a":2}}', {}, { usage: { a: 2 } }],
  [
    'over an earlier one, but for what is null',
    '"usage":{"a":2,"b":null}',
    { a: 1, b: 3 },
    { usage: { a: 2, b: 3 } },
  ],
  ['none in a string', String.raw`"text":"\"usage\":{\"a\":1}"`, {}, { usage: {} }],
  ['none that is cut off', '"usage":{"a":', {}, { usage: {} }],
])('usage at the end of an answer: %s', (_name, end, usage, expected) => {
  expect(read(end, { id: 'c', usage })).toEqual({ id: 'c', ...expected })
})

test("Google's name of it", () => {
  expect(read('[],"usageMetadata":{"promptTokenCount":3}}]')).toEqual({
    usageMetadata: { promptTokenCount: 3 },
  })
})

test('the last bytes are kept, however they come', () => {
  const whole = Buffer.from(Array.from({ length: 3 * endBytes }, (_, at) => at % 251))
  for (const size of [1_000, endBytes - 1, endBytes, 2 * endBytes]) {
    let kept: Buffer = Buffer.alloc(0)
    for (let at = 0; at < whole.length; at += size) kept = lastBytes(kept, whole.subarray(at, at + size))
    expect(kept.equals(whole.subarray(-endBytes))).toBe(true)
    expect(kept.buffer).not.toBe(whole.buffer)
  }
})

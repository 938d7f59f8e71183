import { expect, test } from '@jest/globals'
import { isSameTrace, traceContextOf } from './tracing.ts'

const ids = '0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331'
const traceparent = `00-${ids}-01`

test.each([
  ['sampled', traceparent, traceparent],
  ['not sampled', `00-${ids}-00`, `00-${ids}-00`],
  ['of a later version, with more fields', `01-${ids}-01-new`, traceparent],
  ['of the forbidden version', `ff-${ids}-01`, undefined],
  ['with more fields than its version has', `${traceparent}-new`, undefined],
  ['in capitals', traceparent.toUpperCase(), undefined],
  ['of no trace', `00-${'0'.repeat(32)}-b7ad6b7169203331-01`, undefined],
  ['of no span', `00-0af7651916cd43dd8448eb211c80319c-${'0'.repeat(16)}-01`, undefined],
  ['sent twice', `${traceparent}, ${traceparent}`, undefined],
  ['of another type', 1, undefined],
  ['absent', undefined, undefined],
])('a traceparent %s', (_name, given, read) => {
  expect(traceContextOf({ traceparent: given })?.traceparent).toBe(read)
})

test.each([
  ['short', 'vendor=1', 'vendor=1'],
  ['of 512 characters', 'v='.padEnd(512, '1'), 'v='.padEnd(512, '1')],
  ['longer', 'v='.padEnd(513, '1'), undefined],
  ['with characters that no header has', 'v=ü', undefined],
])('a tracestate that is %s', (_name, given, read) => {
  expect(traceContextOf({ traceparent, tracestate: given })?.tracestate).toBe(read)
  expect(traceContextOf({ tracestate: given })).toBeUndefined()
})

test('contexts of one trace', () => {
  const other = `00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-00`
  expect(isSameTrace({ traceparent }, { traceparent: other })).toBe(true)
  expect(
    isSameTrace({ traceparent }, { traceparent: traceparent.replace('0af', '0af'.slice(1) + '1') }),
  ).toBe(false)
})

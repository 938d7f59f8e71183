import { expect, test } from '@jest/globals'
import { waitingLogs, type WaitingCall } from '#capture/otel/waiting-call.ts'
import { fitsBeside } from './fits-beside.ts'

const words = waitingLogs([])
const span = { span: {} as WaitingCall['span'] }
const mebibyte = 1024 * 1024

test.each([
  ['a span beside little', { calls: 0, bytes: 0 }, span, true],
  ['a span beside as many calls as may wait', { calls: 20_000, bytes: 0 }, span, false],
  ['a span beside as many bytes', { calls: 1, bytes: 32 * mebibyte }, span, false],
  ['a span beside the half of words', { calls: 10_000, bytes: 16 * mebibyte }, span, true],
  ['words beside half of the calls', { calls: 10_000, bytes: 0 }, words, false],
  ['words beside half of the bytes', { calls: 1, bytes: 16 * mebibyte }, words, false],
])('%s', (_name, held, part, fits) => {
  expect(fitsBeside(held, { calls: 1, bytes: 1 }, part)).toBe(fits)
})

import { expect, test } from '@jest/globals'
import { readMark, restingMark, triesBefore, workingMark, writeMark } from './crash-marks.ts'

test.each([
  ['a mark of ours', writeMark({ tries: 2, until: 77n }), { tries: 2, until: 77n }],
  ['nothing', null, null],
  ['empty', '', null],
  ["another tool's text", 'tries=2 until=77', null],
  ['a mark with something behind it', 'sluice tries=2 until=77 ', null],
  ['no tries', 'sluice tries=0 until=77', null],
  ['a number too long', `sluice tries=1 until=${'9'.repeat(30)}`, null],
])('%s', (_name, metadata, mark) => {
  expect(readMark(metadata)).toEqual(mark)
})

const suspects = { from: 10n, mark: { tries: 2, until: 20n } }

test.each([
  ['in front of the mark', 9n, 0],
  ['at the mark', 10n, 2],
  ['behind it, begun together with it', 11n, 1],
  ['the last in reach', 19n, 1],
  ['out of reach', 20n, 0],
])('tries before: %s', (_name, offset, tries) => {
  expect(triesBefore(suspects, offset)).toBe(tries)
})

test('work counts a try, rest takes it back', () => {
  expect(workingMark(suspects, 10n, 11n)).toEqual({ tries: 3, until: 20n })
  expect(restingMark(suspects, 10n)).toEqual({ tries: 2, until: 20n })
  expect(workingMark(suspects, 20n, 30n)).toEqual({ tries: 1, until: 30n })
  expect(restingMark(suspects, 20n)).toBeNull()
  expect(restingMark(null, 10n)).toBeNull()
})

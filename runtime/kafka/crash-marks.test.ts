import { expect, test } from '@jest/globals'
import { readMark, restingMark, triesBefore, withoutLiving, workingMark, writeMark } from './crash-marks.ts'

test.each([
  ['a mark of ours', writeMark({ writers: ['a-1', 'b'], until: 77n }), { writers: ['a-1', 'b'], until: 77n }],
  ['nothing', null, null],
  ['empty', '', null],
  ["another tool's text", 'by=a until=77', null],
  ['a mark with something behind it', 'sluice by=a until=77 ', null],
  ['no writers', 'sluice by= until=77', null],
  ['a number too long', `sluice by=a until=${'9'.repeat(30)}`, null],
])('%s', (_name, metadata, mark) => {
  expect(readMark(metadata)).toEqual(mark)
})

const suspects = { from: 10n, mark: { writers: ['a', 'b'], until: 20n } }

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
  const ours = { writer: 'c', until: 30n }
  expect(workingMark(suspects, 10n, ours)).toEqual({ writers: ['a', 'b', 'c'], until: 20n })
  expect(restingMark(suspects, 10n)).toEqual({ writers: ['a', 'b'], until: 20n })
  expect(workingMark(suspects, 11n, ours)).toEqual({ writers: ['a', 'c'], until: 20n })
  expect(workingMark(suspects, 20n, ours)).toEqual({ writers: ['c'], until: 30n })
  expect(restingMark(suspects, 20n)).toBeNull()
  expect(restingMark(null, 10n)).toBeNull()
})

test('who lives has ended on nothing', () => {
  expect(withoutLiving(suspects, new Set())).toEqual(suspects)
  expect(withoutLiving(suspects, new Set(['a', 'c']))).toEqual({
    from: 10n,
    mark: { writers: ['b'], until: 20n },
  })
  expect(withoutLiving(suspects, new Set(['a', 'b']))).toBeNull()
  expect(withoutLiving(null, new Set(['a']))).toBeNull()
})

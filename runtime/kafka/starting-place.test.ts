import { expect, test } from '@jest/globals'
import { judgeBatch, startingPlace } from './starting-place.ts'

const place = { topic: 't', partition: 0, metadata: null, low: 10n, high: 50n }

test.each([
  ['a new group misses nothing', { committed: null }, { start: 10n, suspects: null, missing: 0n }],
  ['where it was', { committed: 30n }, { start: 30n, suspects: null, missing: 0n }],
  ['at the end', { committed: 50n }, { start: 50n, suspects: null, missing: 0n }],
  ['behind retention', { committed: 4n }, { start: 10n, suspects: null, missing: 6n }],
  [
    'beyond the end: made anew',
    { committed: 60n, metadata: 'sluice by=a until=70' },
    { start: 10n, suspects: null, missing: 10n },
  ],
  [
    'marked',
    { committed: 30n, metadata: 'sluice by=a until=35' },
    { start: 30n, suspects: { from: 30n, mark: { writers: ['a'], until: 35n } }, missing: 0n },
  ],
])('starting place: %s', (_name, offsets, expected) => {
  expect(startingPlace({ ...place, ...offsets })).toEqual(expected)
})

test.each([
  ['deleted between', { first: 40n, low: 35n, high: 50n, readAgain: false }, { kind: 'take', missing: 15n }],
  [
    'the log is shorter than we were',
    { first: 0n, low: 0n, high: 5n, readAgain: false },
    { kind: 'take', missing: 15n },
  ],
  ['nothing explains it', { first: 30n, low: 0n, high: 50n, readAgain: false }, { kind: 'read_again' }],
  ['a hole in the log', { first: 30n, low: 0n, high: 50n, readAgain: true }, { kind: 'take', missing: 0n }],
])('a batch that begins elsewhere than at 20: %s', (_name, batch, verdict) => {
  expect(judgeBatch({ expected: 20n, ...batch })).toEqual(verdict)
})

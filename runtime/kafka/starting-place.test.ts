import { expect, test } from '@jest/globals'
import type { Admin } from 'kafkajs'
import { judgeBatch, readOffsets, startingPlace } from './starting-place.ts'

const place = { topic: 't', partition: 0, metadata: null, low: 10n, high: 50n }

test.each([
  ['a new group misses nothing', { committed: null }, { start: 10n, suspects: null, missing: 0n }],
  ['where it was', { committed: 30n }, { start: 30n, suspects: null, missing: 0n }],
  ['at the end', { committed: 50n }, { start: 50n, suspects: null, missing: 0n }],
  ['behind retention', { committed: 4n }, { start: 10n, suspects: null, missing: 6n }],
  [
    'behind retention, and marked',
    { committed: 4n, metadata: 'sluice by=a until=15' },
    { start: 10n, suspects: { from: 4n, mark: { writers: ['a'], until: 15n } }, missing: 6n },
  ],
  [
    'beyond the end: recreated',
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
    'deleted further than it begins, since it was fetched',
    { first: 30n, low: 45n, high: 50n, readAgain: false },
    { kind: 'take', missing: 10n },
  ],
  [
    'the log is shorter than we were',
    { first: 0n, low: 0n, high: 5n, readAgain: false },
    { kind: 'take', missing: 15n },
  ],
  [
    'nothing explains it, and nothing was deleted',
    { first: 30n, low: 20n, high: 50n, readAgain: false },
    { kind: 'read_again' },
  ],
  ['nothing explains it', { first: 30n, low: 0n, high: 50n, readAgain: false }, { kind: 'read_again' }],
  ['a hole in the log', { first: 30n, low: 0n, high: 50n, readAgain: true }, { kind: 'take', missing: 0n }],
])('a batch that begins elsewhere than at 20: %s', (_name, batch, verdict) => {
  expect(judgeBatch({ expected: 20n, ...batch })).toEqual(verdict)
})

test('what a group committed is told from what it never did, offset 0 too', async () => {
  const partitions = [
    { partition: 0, offset: '0', metadata: 'sluice by=a until=2' },
    { partition: 1, offset: '-1', metadata: null },
  ]
  const ends = [0, 1].map((partition) => ({ partition, offset: '9', low: '3', high: '9' }))
  const admin: Pick<Admin, 'fetchOffsets' | 'fetchTopicOffsets'> = {
    fetchOffsets: () => Promise.resolve([{ topic: 't', partitions }]),
    fetchTopicOffsets: () => Promise.resolve(ends),
  }
  const place = { topic: 't', low: 3n, high: 9n }
  expect(await readOffsets(admin as Admin, 'g', { t: [0, 1], none: [] })).toEqual([
    { ...place, partition: 0, committed: 0n, metadata: 'sluice by=a until=2' },
    { ...place, partition: 1, committed: null, metadata: null },
  ])
})

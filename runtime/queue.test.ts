import { expect, jest, test } from '@jest/globals'
import fc from 'fast-check'
import { queryObjects } from 'node:v8'
import { Queue } from './queue.ts'

// Some take over 30 s beside two other test runs on two cores.
jest.setTimeout(120_000)

const bursts = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.record({ kind: fc.constant('add' as const), count: fc.nat(4_000) }) },
    { weight: 5, arbitrary: fc.record({ kind: fc.constant('take' as const), count: fc.nat(4_000) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('clear' as const), count: fc.constant(1) }) },
  ),
  { minLength: 1, maxLength: 12, size: 'max' },
)

// Counted by hand: an `expect` for each of some ten thousand steps takes longer than all of them.
test('a queue gives what an array gives, however many come and go between', () => {
  fc.assert(
    fc.property(bursts, (steps) => {
      const queue = new Queue<number>()
      let array: number[] = []
      let added = 0
      const differences: string[] = []
      const compare = (what: string, ours: unknown, theirs: unknown) => {
        if (ours !== theirs) differences.push(`${what}: ${String(ours)}, not ${String(theirs)}`)
      }
      for (const { kind, count } of steps) {
        if (kind === 'clear') {
          expect(queue.clear()).toEqual(array)
          array = []
        }
        for (let time = 0; time < count; time++) {
          if (kind === 'add') {
            queue.add(added)
            array.push(added++)
          } else if (kind === 'take') compare('taken', queue.take(), array.shift())
          compare('head', queue.head, array[0])
        }
      }
      expect(differences).toEqual([])
      expect(queue.clear()).toEqual(array)
      expect([queue.head, queue.take()]).toEqual([undefined, undefined])
    }),
  )
})

test.each([1_023, 1_024, 1_025, 2_048, 5_000])(
  'of %d the last comes as the first does, and one that comes then is the next',
  (count) => {
    const queue = new Queue<number>()
    for (let item = 0; item < count; item++) queue.add(item)
    const taken = Array.from({ length: count }, () => queue.take())
    expect(taken).toEqual(Array.from({ length: count }, (_, item) => item))
    expect([queue.head, queue.take()]).toEqual([undefined, undefined])
    queue.add(count)
    expect([queue.head, queue.take(), queue.head]).toEqual([count, count, undefined])
  },
)

// Of records of a megabyte, those that were taken would fill the memory before the first place is given back.
test('what was taken is not kept', () => {
  class Item {
    readonly bytes = Buffer.alloc(1)
  }
  const queue = new Queue<Item>()
  for (let count = 0; count < 100; count++) queue.add(new Item())
  for (let count = 0; count < 97; count++) queue.take()
  expect(queryObjects(Item, { format: 'count' })).toBe(3)
  expect(queue.clear()).toHaveLength(3)
})

import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { createOffsetLedger } from './offset-ledger.ts'

test('the lowest unfinished offset moves over what is finished, holes included', () => {
  const ledger = createOffsetLedger(5n)
  expect(ledger.lowestUnfinished()).toBe(5n)
  for (const offset of [7n, 8n, 12n]) ledger.add(offset)
  expect(ledger.lowestUnfinished()).toBe(7n)
  ledger.finish(8n)
  expect(ledger.lowestUnfinished()).toBe(7n)
  ledger.finish(7n)
  expect(ledger.lowestUnfinished()).toBe(12n)
  ledger.finish(12n)
  expect(ledger.lowestUnfinished()).toBe(13n)
})

test('an offset is taken in once', () => {
  const ledger = createOffsetLedger(0n)
  ledger.add(3n)
  expect(() => ledger.add(3n)).toThrow('offset 3 was taken in before')
})

test('what is given up comes again', () => {
  const ledger = createOffsetLedger(0n)
  for (const offset of [0n, 1n, 2n, 3n]) ledger.add(offset)
  ledger.finish(1n)
  ledger.truncate(2n)
  expect(ledger.end()).toBe(2n)
  ledger.add(2n)
  ledger.finish(0n)
  expect(ledger.lowestUnfinished()).toBe(2n)
})

test('what is given up is given up, and what is kept stays as it was, finished in the middle or not', () => {
  const ledger = createOffsetLedger(0n)
  for (const offset of [0n, 1n, 2n, 4n, 5n, 6n]) ledger.add(offset)
  for (const offset of [1n, 4n, 6n]) ledger.finish(offset)
  // Into a hole: nothing stands at it.
  ledger.truncate(3n)
  expect([ledger.lowestUnfinished(), ledger.end()]).toEqual([0n, 3n])
  // Of those that were given up: their handlers may end still.
  ledger.finish(5n)
  for (const offset of [4n, 6n]) ledger.add(offset)
  ledger.finish(0n)
  expect(ledger.lowestUnfinished()).toBe(2n)
  ledger.finish(2n)
  // It was finished before, and is not now.
  expect(ledger.lowestUnfinished()).toBe(4n)
  ledger.finish(4n)
  expect(ledger.lowestUnfinished()).toBe(6n)
  // At the end, and beyond it: there is nothing to give up.
  for (const offset of [7n, 9n]) ledger.truncate(offset)
  expect([ledger.lowestUnfinished(), ledger.end()]).toEqual([6n, 7n])
})

const steps = fc.array(
  fc.record({ kind: fc.constantFrom('add', 'add', 'finish', 'finish', 'truncate'), far: fc.nat(12) }),
  { maxLength: 60, size: 'max' },
)

test('a ledger says what a list of all offsets says, whatever is finished and given up between', () => {
  fc.assert(
    fc.property(steps, (taken) => {
      const ledger = createOffsetLedger(0n)
      let open: bigint[] = []
      let end = 0n
      for (const { kind, far } of taken) {
        const behind = end - BigInt(far)
        const offset = behind < 0n ? 0n : behind
        if (kind === 'add') {
          // Some holes, as compaction and transactions leave them.
          const next = end + BigInt(far >> 3)
          ledger.add(next)
          open.push(next)
          end = next + 1n
        } else if (kind === 'finish') {
          ledger.finish(offset)
          open = open.filter((each) => each !== offset)
        } else {
          ledger.truncate(offset)
          open = open.filter((each) => each < offset)
          if (offset < end) end = offset
        }
        expect([ledger.lowestUnfinished(), ledger.end()]).toEqual([open[0] ?? end, end])
      }
    }),
  )
})

test('in whatever order records finish, nothing unfinished lies below the lowest unfinished offset', () => {
  fc.assert(
    fc.property(fc.shuffledSubarray(Array.from({ length: 30 }, (_, index) => BigInt(index))), (order) => {
      const ledger = createOffsetLedger(0n)
      for (let offset = 0n; offset < 30n; offset++) ledger.add(offset)
      const open = new Set(Array.from({ length: 30 }, (_, index) => BigInt(index)))
      for (const offset of order) {
        ledger.finish(offset)
        open.delete(offset)
        expect(ledger.lowestUnfinished()).toBe([...open][0] ?? 30n)
      }
    }),
  )
})

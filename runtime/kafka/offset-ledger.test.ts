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

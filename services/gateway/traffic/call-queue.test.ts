import { expect, test } from '@jest/globals'
import { createCallQueue } from './call-queue.ts'

test('calls start in the order they came; who leaves while waiting is passed over; one too many is refused', () => {
  const started: string[] = []
  const waiting: number[] = []
  const queue = createCallQueue({ maxRunning: 1, maxWaiting: 3, onWaiting: (count) => waiting.push(count) })
  const enter = (name: string) => queue.enter(() => started.push(name))
  const first = enter('first')
  const second = enter('second')
  const third = enter('third')
  enter('fourth')
  expect(enter('fifth')).toBeUndefined()
  second?.leave()
  second?.leave()
  first?.leave()
  first?.leave()
  expect(started).toEqual(['first', 'third'])
  third?.leave()
  expect(started).toEqual(['first', 'third', 'fourth'])
  expect(waiting).toEqual([1, 2, 3, 2, 1, 0])
})

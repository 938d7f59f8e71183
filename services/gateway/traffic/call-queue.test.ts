import { expect, test } from '@jest/globals'
import { createCallQueue } from './call-queue.ts'

test('calls start in the order they came; who leaves while waiting is passed over; one too many is refused', () => {
  const started: string[] = []
  const waiting: number[] = []
  const queue = createCallQueue({
    maxRunning: 1,
    maxWaiting: 3,
    isShared: false,
    onWaiting: (change) => waiting.push(change),
  })
  const enter = (name: string) => queue.acquire(name, () => started.push(name))
  const first = enter('first')
  const second = enter('second')
  const third = enter('third')
  enter('fourth')
  expect(enter('fifth')).toBeUndefined()
  second?.release()
  second?.release()
  first?.release()
  first?.release()
  expect(started).toEqual(['first', 'third'])
  third?.release()
  expect(started).toEqual(['first', 'third', 'fourth'])
  expect(waiting).toEqual([1, 1, 1, -1, -1, -1])
})

test('a project takes as many connections, and waits as often, as it leaves to others; they take turns', () => {
  const started: string[] = []
  const queue = createCallQueue({ maxRunning: 4, maxWaiting: 4, isShared: true, onWaiting: () => undefined })
  const enter = (name: string) => queue.acquire(name[0], () => started.push(name))
  const [a1, a2] = [enter('a1'), enter('a2'), enter('a3'), enter('a4')]
  expect(enter('a5')).toBeUndefined()
  expect(started).toEqual(['a1', 'a2'])
  const b1 = enter('b1')
  enter('b2')
  expect(enter('b3')).toBeUndefined()
  expect(started).toEqual(['a1', 'a2', 'b1'])
  const c1 = enter('c1')
  expect(started).toEqual(['a1', 'a2', 'b1', 'c1'])
  a1?.release()
  expect(started.slice(4)).toEqual([])
  a2?.release()
  expect(started.slice(4)).toEqual(['a3'])
  b1?.release()
  c1?.release()
  expect(started.slice(4)).toEqual(['a3', 'b2', 'a4'])
})

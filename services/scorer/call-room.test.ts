import { expect, test } from '@jest/globals'
import { createCallRoom } from './call-room.ts'

test('large calls wait while the room is taken, live ones go first, small ones pass', async () => {
  const used: number[] = []
  const room = createCallRoom({ mostBytes: 100, smallBytes: 10, onChange: (bytes) => used.push(bytes) })
  const { signal } = new AbortController()
  const begun: string[] = []
  const enter = (name: string, bytes: number, lane: 'live' | 'replay' = 'live', until = signal) => {
    const leave = Promise.withResolvers<undefined>()
    const work = () => (begun.push(name), leave.promise)
    const left = room.run(bytes, work, until, lane)
    return { leave: () => (leave.resolve(undefined), left), left }
  }
  const first = enter('first', 90)
  const second = enter('second', 90)
  const replay = enter('replay', 90, 'replay')
  const third = enter('third', 90)
  const small = enter('small', 9)
  const gone = new AbortController()
  const aborted = enter('aborted', 90, 'live', gone.signal)
  gone.abort(new Error('stopped'))
  await expect(aborted.left).rejects.toThrow('stopped')
  expect(begun.sort()).toEqual(['first', 'second', 'small'])

  await first.leave()
  expect(begun.at(-1)).toBe('third')
  await Promise.all([second.leave(), third.leave()])
  expect(begun.at(-1)).toBe('replay')
  await Promise.all([replay.leave(), small.leave()])
  expect([begun.length, Math.max(...used), used.at(-1)]).toEqual([5, 180, 0])
})

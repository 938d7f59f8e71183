import { expect, test } from '@jest/globals'
import { createCallBudget } from './call-budget.ts'
import type { Waiter } from './judge/wait-queue.ts'

const never = new AbortController().signal
const nextTick = () => new Promise((resolve) => setImmediate(resolve))

function setUp() {
  const used: number[] = []
  const room = createCallBudget({ maxBytes: 100, smallBytes: 10, onChange: (bytes) => used.push(bytes) })
  const begun: string[] = []
  const enter = (name: string, bytes: number, asking: Partial<Waiter> = {}, until = never) => {
    const finish = Promise.withResolvers<undefined>()
    const work = () => (begun.push(name), finish.promise)
    const left = room.run(bytes, work, until, { lane: 'live', projectId: 'p', ...asking })
    return { finish: () => (finish.resolve(undefined), left.then(nextTick)), left }
  }
  return { used, begun, enter }
}

test('large calls wait while the room is taken, replays for their turn, small ones pass', async () => {
  const { used, begun, enter } = setUp()
  const first = enter('first', 90)
  const second = enter('second', 90)
  const replay = enter('replay', 90, { lane: 'replay' })
  const third = enter('third', 90)
  const small = enter('small', 9)
  const gone = new AbortController()
  const aborted = enter('aborted', 90, {}, gone.signal)
  gone.abort(new Error('stopped'))
  await expect(aborted.left).rejects.toThrow('stopped')
  expect(begun.sort()).toEqual(['first', 'second', 'small'])

  await first.finish()
  // A replay that never got in would keep its permit.
  expect(begun.at(-1)).toBe('replay')
  await second.finish()
  expect(begun.at(-1)).toBe('third')
  await Promise.all([third.finish(), replay.finish(), small.finish()])
  expect([begun.length, Math.max(...used), used.at(-1)]).toEqual([5, 180, 0])
})

test('a large call waits for one of another project, however many of that wait before it', async () => {
  const { begun, enter } = setUp()
  const many = Array.from({ length: 6 }, (_unused, index) => enter(`a${index}`, 60, { projectId: 'a' }))
  const other = enter('b', 60, { projectId: 'b' })
  expect(begun).toEqual([])
  await many[0]?.finish()
  expect(begun).toEqual(['a0', 'a1', 'b'])
  await Promise.all([...many, other].map(({ finish }) => finish()))
})

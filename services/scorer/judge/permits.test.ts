import { describe, expect, test } from '@jest/globals'
import { createPermits } from './permits.ts'
import type { Lane } from './waiting-lines.ts'

const never = new AbortController().signal

test('no more than the limit at once, the rest in order, also after failures', async () => {
  const permits = createPermits(3)
  let now = 0
  let most = 0
  const order: number[] = []
  const work = Array.from({ length: 20 }, (_unused, index) =>
    permits
      .run(async () => {
        order.push(index)
        most = Math.max(most, ++now)
        await new Promise((resolve) => setImmediate(resolve))
        now--
        if (index % 4 === 0) throw new Error('failed')
      }, never)
      .catch(() => undefined),
  )
  await Promise.all(work)
  expect(most).toBe(3)
  expect(order).toEqual([...order].sort((left, right) => left - right))
})

test('who waits and is aborted takes no place', async () => {
  const permits = createPermits(1)
  const gate = Promise.withResolvers<undefined>()
  const first = permits.run(() => gate.promise, never)
  const controller = new AbortController()
  const waiting = permits.run(() => Promise.resolve('never'), controller.signal)
  const behind = permits.run(() => Promise.resolve('done'), never)
  controller.abort(new Error('stopping'))
  await expect(waiting).rejects.toThrow('stopping')
  gate.resolve(undefined)
  await first
  await expect(behind).resolves.toBe('done')
  await expect(permits.run(() => Promise.resolve('x'), controller.signal)).rejects.toThrow('stopping')
})

describe('live and replay', () => {
  const setUp = (limit: number, mayReplay = () => true) => {
    const permits = createPermits(limit, mayReplay)
    const begun: string[] = []
    const ends: (() => void)[] = []
    const start = (name: string, lane: Lane) =>
      void permits.run(
        () => {
          begun.push(name)
          return new Promise<void>((resolve) => ends.push(resolve))
        },
        never,
        lane,
      )
    const turn = () => new Promise((resolve) => setImmediate(resolve))
    const endFirst = async () => {
      await turn()
      ends.shift()?.()
      await turn()
    }
    return { permits, begun, start, endFirst }
  }

  test('live goes first; replay has one place of several whatever happens, and what live leaves', async () => {
    const { begun, start, endFirst } = setUp(3)
    for (const name of ['live 1', 'live 2', 'live 3', 'live 4', 'live 5']) start(name, 'live')
    for (const name of ['replay 1', 'replay 2', 'replay 3']) start(name, 'replay')
    await endFirst()
    expect(begun).toEqual(['live 1', 'live 2', 'live 3', 'replay 1'])
    await endFirst()
    await endFirst()
    expect(begun.slice(4)).toEqual(['live 4', 'live 5'])
    await endFirst()
    // Replay 1 has ended: its place is kept for replay, though nothing live waits now either.
    expect(begun.slice(6)).toEqual(['replay 2'])
    await endFirst()
    expect(begun.slice(7)).toEqual(['replay 3'])
  })

  test('with one place replay waits until nothing live does', async () => {
    const { begun, start, endFirst } = setUp(1)
    start('live 1', 'live')
    start('replay', 'replay')
    start('live 2', 'live')
    await endFirst()
    await endFirst()
    expect(begun).toEqual(['live 1', 'live 2', 'replay'])
  })

  test('replay waits while it may not, and goes on when asked to look again', async () => {
    let late = true
    const { permits, begun, start } = setUp(4, () => !late)
    start('replay', 'replay')
    start('live', 'live')
    await new Promise((resolve) => setImmediate(resolve))
    expect(begun).toEqual(['live'])
    late = false
    permits.wake()
    await new Promise((resolve) => setImmediate(resolve))
    expect(begun).toEqual(['live', 'replay'])
  })
})

describe('work of several projects', () => {
  const setUp = (limit: number) => {
    const permits = createPermits(limit)
    const begun: string[] = []
    const ends = new Map<string, () => void>()
    const start = (project: string | null, name: string, lane: Lane = 'live') =>
      void permits.run(
        () => {
          begun.push(name)
          return new Promise<void>((resolve) => ends.set(name, resolve))
        },
        never,
        lane,
        project,
      )
    const end = async (name: string) => {
      ends.get(name)?.()
      await new Promise((resolve) => setImmediate(resolve))
    }
    return { begun, start, end }
  }

  test('a project that has none under way has a place beyond the limit, one piece of work at a time', async () => {
    const { begun, start, end } = setUp(3)
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) start('a', name)
    await end('')
    expect(begun).toEqual(['a1', 'a2', 'a3'])
    for (const name of ['b1', 'b2', 'b3']) start('b', name)
    await end('')
    expect(begun.slice(3)).toEqual(['b1'])
    await end('b1')
    await end('b2')
    expect(begun.slice(4)).toEqual(['b2', 'b3'])
    await end('b3')
    await end('a1')
    expect(begun.slice(6)).toEqual(['a4'])
  })

  test('who has fewest under way is next, and of several who came first', async () => {
    const { begun, start, end } = setUp(3)
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) start('a', name)
    for (const name of ['b1', 'b2', 'c1', 'c2']) start(name.slice(0, 1), name)
    await end('')
    expect(begun.slice(3)).toEqual(['b1'])
    await end('a1')
    expect(begun.slice(4)).toEqual(['c1'])
    await end('a2')
    // Three are under way, one of each project.
    expect(begun.slice(5)).toEqual([])
    await end('a3')
    expect(begun.slice(5)).toEqual(['a4'])
    await end('c1')
    expect(begun.slice(6)).toEqual(['c2'])
  })

  test("neither replays nor what is nobody's have it", async () => {
    const { begun, start, end } = setUp(2)
    for (const name of ['1', '2', '3']) start(null, name)
    start('b', 'replay 1', 'replay')
    await end('')
    expect(begun).toEqual(['1', '2'])
    await end('1')
    expect(begun.slice(2)).toEqual(['replay 1'])
    start('b', 'replay 2', 'replay')
    await end('2')
    expect(begun.slice(3)).toEqual(['3'])
  })
})

test('a replay gets on beside live work of ever more projects', async () => {
  const permits = createPermits(3)
  let [isOver, liveDone] = [false, 0]
  const soon = () => new Promise((resolve) => setImmediate(resolve))
  const live = Array.from({ length: 8 }, async (_unused, project) => {
    for (let job = 0; job < 1_000 && !isOver; job++) {
      await permits.run(soon, never, 'live', `p${project}`)
      liveDone++
    }
  })
  await soon()
  await permits.run(soon, never, 'replay', 'p0')
  isOver = true
  expect(liveDone).toBeLessThan(100)
  await Promise.all(live)
})

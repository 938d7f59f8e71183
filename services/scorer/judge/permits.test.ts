import { describe, expect, test } from '@jest/globals'
import { createPermits } from './permits.ts'
import type { Lane, Waiter } from './wait-queue.ts'

const never = new AbortController().signal
const who: Waiter = { lane: 'live', projectId: 'p' }

test('no more than the limit at once, the rest in order, also after failures', async () => {
  const permits = createPermits(3)
  let now = 0
  let peak = 0
  const order: number[] = []
  const work = Array.from({ length: 20 }, (_unused, index) =>
    permits
      .run(
        async () => {
          order.push(index)
          peak = Math.max(peak, ++now)
          await new Promise((resolve) => setImmediate(resolve))
          now--
          if (index % 4 === 0) throw new Error('failed')
        },
        never,
        who,
      )
      .catch(() => undefined),
  )
  await Promise.all(work)
  expect(peak).toBe(3)
  expect(order).toEqual([...order].sort((left, right) => left - right))
})

test('who waits and is aborted takes no place', async () => {
  const permits = createPermits(1)
  const gate = Promise.withResolvers<undefined>()
  const first = permits.run(() => gate.promise, never, who)
  const controller = new AbortController()
  const waiting = permits.run(() => Promise.resolve('never'), controller.signal, who)
  const behind = permits.run(() => Promise.resolve('done'), never, who)
  controller.abort(new Error('stopping'))
  await expect(waiting).rejects.toThrow('stopping')
  gate.resolve(undefined)
  await first
  await expect(behind).resolves.toBe('done')
  await expect(permits.run(() => Promise.resolve('x'), controller.signal, who)).rejects.toThrow('stopping')
})

describe('live and replay', () => {
  const setUp = (limit: number, mayReplay = () => true) => {
    const permits = createPermits(limit, { mayReplay })
    const begun: string[] = []
    const ends: (() => void)[] = []
    const start = (name: string, lane: Lane) =>
      void permits.run(
        () => {
          begun.push(name)
          return new Promise<void>((resolve) => ends.push(resolve))
        },
        never,
        { lane, projectId: 'p' },
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
    // Replay 1 has ended. Its permit stays reserved for replay even with no live work waiting.
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
  const setUp = (limit: number, options: Parameters<typeof createPermits>[1] = {}) => {
    const permits = createPermits(limit, options)
    const begun: string[] = []
    const ends = new Map<string, () => void>()
    const start = (projectId: string, name: string, lane: Lane = 'live') =>
      void permits.run(
        () => {
          begun.push(name)
          return new Promise<void>((resolve) => ends.set(name, resolve))
        },
        never,
        { lane, projectId },
      )
    const end = async (name: string) => {
      ends.get(name)?.()
      await new Promise((resolve) => setImmediate(resolve))
    }
    return { begun, start, end }
  }

  test('a project that has none under way has a place beyond the limit, one piece of work at a time', async () => {
    const { begun, start, end } = setUp(3, { hasOneMore: true })
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
    const { begun, start, end } = setUp(3, { hasOneMore: true })
    for (const name of ['a1', 'a2', 'a3', 'a4', 'a5']) start('a', name)
    for (const name of ['b1', 'b2', 'c1', 'c2']) start(name.slice(0, 1), name)
    await end('')
    expect(begun.slice(3)).toEqual(['b1'])
    await end('a1')
    expect(begun.slice(4)).toEqual(['c1'])
    await end('a2')
    // Three are running, one per project.
    expect(begun.slice(5)).toEqual([])
    await end('a3')
    expect(begun.slice(5)).toEqual(['a4'])
    await end('c1')
    expect(begun.slice(6)).toEqual(['c2'])
  })

  test('where all have as few under way they take turns, however many of one wait', async () => {
    const { begun, start, end } = setUp(1)
    for (const name of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) start(name.slice(0, 1), name)
    for (let ended = 0; ended < 6; ended++) await end(begun.at(-1) ?? '')
    expect(begun).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
  })

  test('replays have no place beyond the limit', async () => {
    const { begun, start, end } = setUp(2, { hasOneMore: true })
    for (const name of ['1', '2', '3']) start('a', name)
    start('b', 'replay 1', 'replay')
    await end('')
    expect(begun).toEqual(['1', '2'])
    await end('1')
    expect(begun.slice(2)).toEqual(['replay 1'])
    start('b', 'replay 2', 'replay')
    await end('2')
    expect(begun.slice(3)).toEqual(['3'])
  })

  test('replays of a project take nothing from its live work', async () => {
    const { begun, start, end } = setUp(2, { hasOneMore: true })
    for (const name of ['replay 1', 'replay 2', 'replay 3']) start('a', name, 'replay')
    start('a', 'a1')
    await end('')
    expect(begun).toEqual(['replay 1', 'replay 2', 'a1'])
    for (const name of ['b1', 'b2']) start('b', name)
    start('a', 'a2')
    await end('a1')
    await end('replay 1')
    // Its other replay is running, and none of its live work.
    await end('b1')
    expect(begun.slice(3)).toEqual(['b1', 'a2', 'b2'])
  })

  test('replays that are as good as live work take turns with it, also with one place', async () => {
    const { begun, start, end } = setUp(1, { isReplayEqual: true })
    for (const name of ['live 1', 'live 2', 'live 3']) start('a', name)
    for (const name of ['replay 1', 'replay 2']) start('a', name, 'replay')
    for (let ended = 0; ended < 5; ended++) await end(begun.at(-1) ?? '')
    expect(begun).toEqual(['live 1', 'replay 1', 'live 2', 'replay 2', 'live 3'])
  })

  test('who has least under way is next, and one of any size goes while there is room', async () => {
    const taken: number[] = []
    const permits = createPermits(100, { onTaken: (amount) => taken.push(amount) })
    const begun: string[] = []
    const start = (name: string, amount: number) => {
      const { promise, resolve } = Promise.withResolvers<undefined>()
      const work = () => (begun.push(name), promise)
      const done = permits.run(work, never, { lane: 'live', projectId: name.slice(0, 1) }, amount)
      return () => (resolve(undefined), done)
    }
    const [endA1, endB1] = [start('a1', 60), start('b1', 50)]
    const rest = [start('b2', 1), start('c1', 500), start('a2', 1)]
    await endA1()
    await new Promise((resolve) => setImmediate(resolve))
    expect(begun).toEqual(['a1', 'b1', 'c1'])
    await Promise.all([endB1(), ...rest.map((end) => end())])
    expect(begun.slice(3)).toEqual(['a2', 'b2'])
    expect(taken.at(-1)).toBe(0)
  })

  test('it is known how many wait, also when they give up', async () => {
    const waiting = { live: 0, replay: 0 }
    const onWaiting = (lane: Lane, change: number) => (waiting[lane] += change)
    const permits = createPermits(1, { onWaiting, isReplayEqual: true })
    const gate = Promise.withResolvers<undefined>()
    const first = permits.run(() => gate.promise, never, who)
    await new Promise((resolve) => setImmediate(resolve))
    expect(waiting).toEqual({ live: 0, replay: 0 })
    const stopping = new AbortController()
    const second = permits.run(() => Promise.resolve(), stopping.signal, who)
    const third = permits.run(() => Promise.resolve(), never, { ...who, lane: 'replay' })
    expect(waiting).toEqual({ live: 1, replay: 1 })
    stopping.abort(new Error('stopping'))
    await expect(second).rejects.toThrow('stopping')
    expect(waiting).toEqual({ live: 0, replay: 1 })
    gate.resolve(undefined)
    await Promise.all([first, third])
    expect(waiting).toEqual({ live: 0, replay: 0 })
  })
})

test('a replay gets on beside live work of ever more projects', async () => {
  const permits = createPermits(3, { hasOneMore: true })
  let [isOver, liveDone] = [false, 0]
  const nextTick = () => new Promise((resolve) => setImmediate(resolve))
  const live = Array.from({ length: 8 }, async (_unused, project) => {
    for (let job = 0; job < 1_000 && !isOver; job++) {
      await permits.run(nextTick, never, { lane: 'live', projectId: `p${project}` })
      liveDone++
    }
  })
  await nextTick()
  await permits.run(nextTick, never, { lane: 'replay', projectId: 'p0' })
  isOver = true
  expect(liveDone).toBeLessThan(100)
  await Promise.all(live)
})

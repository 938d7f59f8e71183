import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { consumeRecordsByHand } from '#tests/support/hand-driven-consumer.ts'
import { holdTime, turns } from '#tests/support/hand-driven-group.ts'
import type { ParallelConsumerOptions } from './parallel-consumer.ts'

beforeEach(holdTime)
afterEach(() => void jest.useRealTimers())

interface Group {
  names: string[]
  handBack: (name: string) => void
  over: (name: string) => void
  end: (error?: Error) => Promise<void>
}

/** As `consumeRecordsByHand`; what begins together does so in `groups`, and runs until the test ends it. */
async function consume(
  options: Partial<ParallelConsumerOptions<string>> = {},
  committed?: Parameters<typeof consumeRecordsByHand>[1],
) {
  const groups: Group[] = []
  const groupHandler: ParallelConsumerOptions<string>['groupHandler'] = (records, handBack, over) => {
    const names = records.map(({ partition, offset }) => `${partition}/${offset}`)
    const ended = Promise.withResolvers<undefined>()
    groups.push({
      names,
      handBack: (name) => handBack(names.indexOf(name)),
      over: (name) => over(names.indexOf(name)),
      end: (error) => {
        if (error) ended.reject(error)
        else ended.resolve(undefined)
        return turns()
      },
    })
    return ended.promise
  }
  const text = (value: Buffer) => value.toString()
  const decoder = { decode: (value: Buffer) => Promise.resolve(text(value)), decodeNow: text }
  const parts = await consumeRecordsByHand({ decoder, groupHandler, ...options }, committed)
  return { ...parts, groups, names: () => groups.map(({ names }) => names.join()) }
}

test('what begins at the same time is worked on together, and what begins by itself alone', async () => {
  const { deliver, groups, names, begun, tick, commits } = await consume()
  await deliver(0, 0, 3)
  await deliver(1, 0, 1)
  expect([names(), begun]).toEqual([['0/0,0/1,0/2'], ['1/0']])
  await groups[0]?.end()
  await tick()
  expect(commits.at(-1)).toBe('0@3')
})

test('those that are together take their places until each of them is over', async () => {
  const { deliver, groups, names, begun, end, tick, commits } = await consume({ concurrency: 3, window: 9 })
  await deliver(0, 0, 9)
  expect(names()).toEqual(['0/0,0/1,0/2'])
  groups[0]?.handBack('0/2')
  await tick()
  expect([names().length, begun]).toEqual([1, ['0/2']])
  groups[0]?.over('0/1')
  await tick()
  expect(begun).toEqual(['0/2', '0/3'])
  await end('0/2')
  await groups[0]?.end()
  await tick()
  expect(commits.at(-1)).toBe('0@3 until 9')
})

test('a handler that rejects moves no offset: its records go on alone, in the places that they have', async () => {
  const { deliver, groups, begun, end, tick, commits, failure } = await consume({ concurrency: 2, window: 9 })
  await deliver(0, 0, 4)
  groups[0]?.handBack('0/1')
  await groups[0]?.end(new TypeError('x is undefined'))
  await tick()
  expect([begun, commits.at(-1), failure()]).toEqual([['0/1', '0/0'], '0@0 until 4', undefined])
  await end('0/0')
  await tick()
  expect([begun.length, commits.at(-1)]).toEqual([3, '0@1 until 4'])
})

test('no more are together than a statement takes', async () => {
  const { deliver, groups } = await consume({ concurrency: 1_000, window: 1_000 })
  await deliver(0, 0, 450)
  expect(groups.map(({ names }) => names.length)).toEqual([200, 200, 50])
})

test('what was tried before is tried alone, though others begin at the same time', async () => {
  const mark = 'sluice by=a until=3'
  const { deliver, groups, begun, names } = await consume({ concurrency: 2 }, { 0: ['2', mark] })
  await deliver(1, 0, 4)
  await deliver(0, 2, 3)
  expect(begun).toEqual([])
  await groups[0]?.end()
  expect([begun, names()]).toEqual([['0/2'], ['1/0,1/1', '1/2']])
})

test('a stop waits for those that are together, and does not begin with what they hand back', async () => {
  const { deliver, groups, begun, consumer, commits, state, failure } = await consume()
  await deliver(0, 0, 4)
  const stopping = consumer.stop()
  groups[0]?.handBack('0/2')
  await turns()
  expect([begun, state.hasLeft]).toEqual([[], false])
  await groups[0]?.end()
  await stopping
  expect([begun, commits.at(-1), state.hasLeft, failure()]).toEqual([[], '0@2', true, undefined])
})

test('of a partition that is lost nothing moves, though it was together with what is ours', async () => {
  const { deliver, groups, names, assign, begun, tick, commits, failure } = await consume({ concurrency: 2 })
  await deliver(0, 0, 4)
  await deliver(1, 0, 2)
  await groups[0]?.end()
  expect(names()[1]?.split(',').toSorted()).toEqual(['0/2', '1/0'])
  await assign(1)
  const before = commits.filter((commit) => commit.startsWith('0'))
  await groups[1]?.end()
  await tick()
  expect(commits.filter((commit) => commit.startsWith('0'))).toEqual(before)
  expect(commits).toContain('1@1')
  expect([begun, failure()]).toEqual([[], undefined])
})

test('what is handed back of a partition that is lost is not begun', async () => {
  const { deliver, groups, assign, begun, tick, failure } = await consume()
  await deliver(0, 0, 3)
  await assign(1)
  groups[0]?.handBack('0/1')
  await groups[0]?.end(new Error('surprise'))
  await tick()
  expect([begun, failure()]).toEqual([[], undefined])
  await deliver(1, 0, 1)
  expect(begun).toEqual(['1/0'])
})

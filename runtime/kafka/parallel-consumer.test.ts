import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import kafkajs from 'kafkajs'
import { consumeRecordsByHand as consume, drainMs } from '#tests/support/hand-driven-consumer.ts'
import { holdTime, rebalanceError, turns } from '#tests/support/hand-driven-group.ts'
import { TransientError } from '../errors.ts'

beforeEach(holdTime)
afterEach(() => void jest.useRealTimers())

test('of a topic that was recreated everything is read, and what ran of the old one moves nothing', async () => {
  const { deliver, ends, begun, end, tick, committed, signalOf } = await consume({}, { 0: ['50', ''] })
  await deliver(0, 50, 52)
  await end('0/50')
  await tick()
  Object.assign(ends, { 0: { low: 0, high: 3 } })
  // Once to see that the log starts over, once to be read.
  await deliver(0, 0, 3)
  await deliver(0, 0, 3)
  expect(begun).toEqual(['0/50', '0/51', '0/0', '0/1', '0/2'])
  expect(signalOf('0/51')?.aborted).toBe(true)
  await end('0/51')
  for (const name of ['0/0', '0/1', '0/2']) await end(name)
  await tick()
  expect(committed.get(0)).toEqual({ offset: '3', metadata: '' })
})

test('a partition that comes back where another has gone on is begun there; what ran of it is told, and moves nothing', async () => {
  const { deliver, assign, begun, end, tick, committed, commits, signalOf } = await consume()
  await deliver(0, 0, 2)
  committed.set(0, { offset: '10', metadata: '' })
  await assign(0, 1)
  expect(signalOf('0/0')?.aborted).toBe(true)
  await end('0/0')
  await end('0/1')
  await deliver(0, 10, 12)
  expect(begun).toEqual(['0/0', '0/1', '0/10', '0/11'])
  await end('0/10')
  await tick()
  expect(commits).toEqual(['0@0 until 2', '0@10 until 12', '0@11 until 12'])
})

test('a partition that comes back where we left it is gone on with, and nothing of it is begun twice', async () => {
  const { deliver, assign, announceRebalance, begun, end, tick, commits } = await consume()
  await deliver(0, 0, 6)
  await end('0/0')
  await announceRebalance()
  await assign(0, 1)
  await deliver(0, 1, 6)
  expect(begun.toSorted()).toEqual(['0/0', '0/1', '0/2', '0/3', '0/4'])
  for (const name of ['0/1', '0/2', '0/3', '0/4']) await end(name)
  await end('0/5')
  await tick()
  expect(commits.at(-1)).toBe('0@6')
})

test('what is finished is committed before the group rebalances, without a mark, and nothing is begun until it has', async () => {
  const { deliver, announceRebalance, assign, begun, end, tick, commits } = await consume({ concurrency: 2 })
  await deliver(0, 0, 4)
  expect(begun).toEqual(['0/0', '0/1'])
  await end('0/0', undefined)
  expect(begun).toEqual(['0/0', '0/1', '0/2'])
  await announceRebalance()
  expect(commits).toEqual(['0@0 until 4', '0@1'])
  await end('0/1')
  await tick()
  expect(begun).toHaveLength(3)
  // Marks are for those who begin something.
  expect(commits).toHaveLength(2)
  await assign(0)
  await deliver(0, 1, 4)
  expect(begun).toEqual(['0/0', '0/1', '0/2', '0/3'])
})

test('a partition that is lost: its handlers are told, and nothing of it is committed any more', async () => {
  const { deliver, assign, begun, end, tick, commits, signalOf, failure } = await consume()
  await deliver(0, 0, 2)
  await deliver(1, 0, 2)
  await assign(1)
  expect([signalOf('0/0')?.aborted, signalOf('1/0')?.aborted]).toEqual([true, false])
  await end('0/0', new Error('told to end'))
  await end('0/1')
  await tick()
  expect(commits.filter((commit) => commit.startsWith('0'))).toEqual(['0@0 until 2'])
  expect(failure()).toBeUndefined()
  // A fetch that was under way still.
  await deliver(0, 2, 4)
  expect(begun.filter((name) => name.startsWith('0'))).toHaveLength(2)
})

test('a commit that is made again behind a rebalance is not made for what is lost, and is no failure', async () => {
  const { deliver, gates, assign, commits, failure } = await consume()
  const answered = Promise.withResolvers<never>()
  gates.commit = answered.promise
  await deliver(0, 0, 2)
  await assign(1)
  gates.commit = undefined
  answered.reject(new kafkajs.KafkaJSConnectionError('closed'))
  await turns()
  expect([commits, failure()]).toEqual([[], undefined])
})

test('nothing is begun before its mark is acknowledged', async () => {
  const { deliver, gates, begun } = await consume()
  const acknowledged = Promise.withResolvers<undefined>()
  gates.commit = acknowledged.promise
  await deliver(0, 0, 2)
  expect(begun).toEqual([])
  acknowledged.resolve(undefined)
  await turns()
  expect(begun).toEqual(['0/0', '0/1'])
})

test('a commit that is refused ends the consumer, one that a rebalance explains does not', async () => {
  const { deliver, script, failure, begun, commits, tick } = await consume()
  script.commitErrors.push(rebalanceError())
  await deliver(0, 0, 2)
  await tick()
  expect([failure(), begun, commits]).toEqual([undefined, ['0/0', '0/1'], ['0@0 until 2']])
  const refused = new Error('no right to commit')
  script.commitErrors.push(refused)
  await deliver(1, 0, 2)
  expect(failure()).toBe(refused)
})

test.each([
  ['an error that nobody knows', new Error('surprise'), '0@0'],
  ['a mistake that the record brings out', new TypeError('x is undefined'), '0@0 until 2'],
])('%s ends the consumer: the offset stays, and of a mistake the mark', async (_name, error, last) => {
  const { deliver, end, begun, failure, commits, state } = await consume({ concurrency: 1 })
  await deliver(0, 0, 2)
  await end('0/0', error)
  expect(failure()).toBe(error)
  expect([begun, commits.at(-1), state.hasLeft]).toEqual([['0/0'], last, true])
})

test('a stop begins nothing, waits for what runs, and commits it before it leaves', async () => {
  const { deliver, end, begun, consumer, commits, state } = await consume({ concurrency: 2 })
  await deliver(0, 0, 4)
  const stopping = consumer.stop()
  await end('0/1')
  await deliver(1, 0, 2)
  expect([begun, state.hasLeft]).toEqual([['0/0', '0/1'], false])
  await end('0/0')
  await stopping
  expect([begun.length, commits.at(-1), state.hasLeft]).toEqual([2, '0@2', true])
})

test('a stop takes back a mark that is on its way, and does not wait for another attempt', async () => {
  const retry = { attempts: 3, initialDelayMs: 100_000, maxDelayMs: 100_000 }
  const { deliver, end, gates, consumer, commits } = await consume({ retry })
  await deliver(0, 0, 1)
  await end('0/0', new TransientError('STORE_AWAY', 'not now'))
  const acknowledged = Promise.withResolvers<undefined>()
  gates.commit = acknowledged.promise
  await deliver(1, 0, 2)
  gates.commit = undefined
  const stopping = consumer.stop()
  await turns()
  acknowledged.resolve(undefined)
  await stopping
  expect(commits).toEqual(['0@0 until 1', '1@0 until 2', '0@0', '1@0'])
})

test('what has had its tries is buried, and what was begun with it is worked on alone', async () => {
  const dead = 'sluice by=a,b,c until=4'
  const { deliver, begun, letters, end, commits } = await consume({}, { 0: ['2', dead] })
  await deliver(0, 2, 6)
  expect([letters, begun, commits.at(-1)]).toEqual([['2'], ['0/3'], '0@3 until 4'])
  await end('0/3')
  expect(begun).toEqual(['0/3', '0/4', '0/5'])
})

test('handlers that outlast the drain are told; what they have not finished is not committed', async () => {
  const { deliver, end, consumer, commits, signalOf } = await consume()
  await deliver(0, 0, 2)
  const stopping = consumer.stop()
  await end('0/1')
  expect(signalOf('0/0')?.aborted).toBe(false)
  jest.advanceTimersByTime(drainMs)
  await turns()
  expect(signalOf('0/0')?.aborted).toBe(true)
  await end('0/0', new Error('told to end'))
  await stopping
  expect(commits.at(-1)).toBe('0@0')
})

test('no more than `concurrency` run, partitions in turn, and a partition that holds too much is not fetched from', async () => {
  const each = 600
  const { deliver, end, begun, paused, tick } = await consume({ concurrency: 2, maxInFlightBytes: 8 * each })
  await deliver(0, 0, 9)
  await deliver(1, 0, 2)
  expect([begun, [...paused]]).toEqual([['0/0', '0/1'], [0]])
  await end('0/0')
  expect(begun).toEqual(['0/0', '0/1', '1/0'])
  for (const name of ['0/1', '1/0', '1/1']) await end(name)
  for (let offset = 2; offset < 8; offset++) {
    await tick()
    await end(`0/${offset}`)
  }
  expect([...paused]).toEqual([])
})

test('one partition has all places while nothing comes of the others', async () => {
  const { deliver, begun } = await consume({ concurrency: 8, window: 9 })
  await deliver(0, 0, 9)
  expect(begun).toHaveLength(8)
})

test('with `sparesPlaces`, partitions whose records take long leave places for the others', async () => {
  const { deliver, end, begun } = await consume({ concurrency: 8, window: 9, sparesPlaces: true })
  await deliver(0, 0, 9)
  expect(begun).toHaveLength(6)
  await deliver(1, 0, 9)
  expect(begun.filter((name) => name.startsWith('1/'))).toEqual(['1/0', '1/1'])
  await end('1/0')
  expect(begun.at(-1)).toBe('1/2')
  await end('0/0')
  expect(begun.at(-1)).toBe('1/3')
})

test('a record begins when it is due, without anything else happening', async () => {
  const dueMs = Date.now() + 10_000
  const { deliver, begun, tick } = await consume({ notBefore: () => dueMs })
  await deliver(0, 0, 1)
  await tick()
  expect(begun).toEqual([])
  jest.advanceTimersByTime(10_000)
  await turns()
  expect(begun).toEqual(['0/0'])
})

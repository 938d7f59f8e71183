import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import kafkajs from 'kafkajs'
import { consumeBatchesByHand as consume, type BatchSetting } from '#tests/support/hand-driven-consumer.ts'
import { holdTime, rebalanceError, turns } from '#tests/support/hand-driven-group.ts'
import { systemClock } from '../clock.ts'
import { TransientError } from '../errors.ts'
import { createMetrics } from '../metrics.ts'

beforeEach(holdTime)
afterEach(() => void jest.useRealTimers())

test('every chunk is marked before it is begun, in the commit of the one before, and the last leaves no mark', async () => {
  const seen: string[] = []
  const commitsBefore = () => seen.push(commits.at(-1) ?? '')
  const { deliver, commits, committed, handled, positions } = await consume({
    handle: () => void commitsBefore(),
  })
  expect(await deliver(0, 0, 5)).toBeUndefined()
  expect(handled).toEqual(['0/0,1', '0/2,3', '0/4'])
  expect(positions).toEqual([2, 4, 5])
  expect(commits).toEqual(['0@0 until 2', '0@2 until 4', '0@4 until 5', '0@5'])
  expect(seen).toEqual(commits.slice(0, 3))
  expect(committed.get(0)).toEqual({ offset: '5', metadata: '' })
})

test.each<[string, Error | undefined]>([
  ['ends well', undefined],
  ['fails', new Error('surprise')],
])('records are told as being worked on while they are: it %s', async (_how, error) => {
  const metrics = createMetrics()
  const gauge = async () => {
    const metric = await metrics.registry.getSingleMetric('sluice_kafka_in_flight_records')?.get()
    return metric?.values.map(({ labels, value }) => [labels, value])
  }
  let meanwhile: unknown
  const { deliver } = await consume({
    options: { metrics },
    handle: async () => {
      meanwhile = await gauge()
      if (error !== undefined) throw error
    },
  })
  await deliver(0, 0, 2)
  expect([meanwhile, await gauge()]).toEqual([[[{ group: 'g' }, 2]], [[{ group: 'g' }, 0]]])
})

test.each<[string, (world: Awaited<ReturnType<typeof consume>>) => unknown]>([
  ['the consumer stops', ({ consumer }) => void consumer.stop()],
  ['kafkajs stops', ({ state }) => (state.isRunning = false)],
  ['the place is read again', ({ state }) => (state.isStale = true)],
])('when %s, the chunk is finished and committed, no other begun, and no mark left', async (_when, end) => {
  const world = await consume({ handle: () => void end(world) })
  await world.deliver(0, 0, 6)
  expect(world.handled).toEqual(['0/0,1'])
  expect(world.commits).toEqual(['0@0 until 2', '0@2'])
})

test('a mark made ahead is taken back when the end comes with its commit', async () => {
  const { deliver, gates, state, commits, handled } = await consume({
    handle: () => {
      gates.commit = turns().then(() => (state.isRunning = false))
      return undefined
    },
  })
  await deliver(0, 0, 6)
  expect([handled, commits]).toEqual([['0/0,1'], ['0@0 until 2', '0@2 until 4', '0@2']])
})

test('a group that rebalances is noticed while a chunk is worked on: it is finished, committed, and kafkajs told', async () => {
  const { deliver, script, handled, commits, failure } = await consume({
    handle: async () => {
      script.heartbeatError = rebalanceError()
      jest.advanceTimersByTime(3_000)
      await turns()
    },
  })
  expect(await deliver(0, 0, 6)).toBe(script.heartbeatError)
  expect([handled, commits, failure()]).toEqual([['0/0,1'], ['0@0 until 2', '0@2'], undefined])
})

test('a commit that a rebalance refuses is told to kafkajs, not made again, and no failure', async () => {
  const { deliver, script, commits, handled, failure } = await consume()
  const refused = rebalanceError()
  script.commitErrors.push(refused)
  expect(await deliver(0, 0, 2)).toBe(refused)
  expect([commits, handled, failure()]).toEqual([[], [], undefined])
})

test.each([
  ['ends well', undefined, []],
  ['fails', new Error('surprise'), ['surprise']],
])('work on a partition that is lost meanwhile commits nothing: it %s', async (_how, error, failures) => {
  const world = await consume({ handle: () => world.assign(1).then(() => error && Promise.reject(error)) })
  await world.deliver(0, 0, 6)
  expect([world.handled, world.commits]).toEqual([['0/0,1'], ['0@0 until 2']])
  expect([world.failure()].flatMap((failure) => (failure instanceof Error ? failure.message : []))).toEqual(
    failures,
  )
})

test('a mark of its own that a member comes back to makes no suspects', async () => {
  const world = await consume({ handle: () => world.assign(0, 1) })
  await world.deliver(0, 0, 2)
  await world.deliver(0, 0, 2)
  expect(world.handled).toEqual(['0/0,1', '0/0,1'])
})

const away = () => Promise.reject(new TransientError('STORE_AWAY', 'not now'))

test('records that were deleted with nothing behind them are counted though no batch comes', async () => {
  const metrics = createMetrics()
  const { ends, fetched, deliver } = await consume({ options: { metrics } })
  await deliver(0, 0, 2)
  ends[0] = { low: 30, high: 30 }
  for (let look = 0; look < 3; look++) {
    jest.advanceTimersByTime(30_000)
    await fetched()
  }
  const skipped = await metrics.registry.getSingleMetric('sluice_kafka_skipped_records_total')?.get()
  expect(skipped?.values).toMatchObject([{ value: 28, labels: { topic: 't' } }])
})

test('waiting for another attempt ends when the group rebalances: no failure, and kafkajs is told', async () => {
  const { deliver, script, commits, failure } = await consume({
    options: {
      clock: systemClock,
      retry: { attempts: 3, initialDelayMs: 900, maxDelayMs: 900 },
      group: { heartbeatIntervalMs: 100 },
    },
    handle: away,
  })
  const giving = deliver(0, 0, 2)
  await turns()
  script.heartbeatError = rebalanceError()
  jest.advanceTimersByTime(100)
  expect(await giving).toBe(script.heartbeatError)
  expect([commits.at(-1), failure()]).toEqual(['0@0', undefined])
})

test('what kafkajs gives up, and starting places that cannot be read, end the consumer', async () => {
  const crashed = await consume()
  await crashed.crash(new Error('the cluster is away'))
  expect(crashed.failure()).toMatchObject({ code: 'KAFKA_CONSUMER_CRASHED' })
  const unplaced = await consume()
  unplaced.gates.offsets = Promise.reject(new Error('no answer'))
  await unplaced.assign(0)
  expect(unplaced.failure()).toMatchObject({ code: 'KAFKA_CONSUMER_CRASHED' })
})

test('waiting for another attempt ends with a stop: no failure, the offset stays, no mark', async () => {
  const world = await consume({
    handle: () => {
      void world.consumer.stop()
      return Promise.reject(new TransientError('STORE_AWAY', 'not now'))
    },
  })
  await world.deliver(0, 0, 2)
  expect([world.commits.at(-1), world.failure()]).toEqual(['0@0', undefined])
})

test.each([
  ['an error that nobody knows', new Error('surprise'), '0@0'],
  ['a mistake that the record brings out', new TypeError('x is undefined'), '0@0 until 2'],
])('%s ends the consumer: the offset stays, and of a mistake the mark', async (_name, error, last) => {
  const { deliver, handled, commits, failure, state } = await consume({ handle: () => Promise.reject(error) })
  await deliver(0, 0, 4)
  await turns()
  // It takes no more.
  await deliver(1, 0, 2)
  expect([handled, commits.at(-1), failure(), state.hasLeft]).toEqual([['0/0,1'], last, error, true])
})

const connectionLost = () => new kafkajs.KafkaJSConnectionError('closed')

test('a commit is made again while the connection fails; after six times the group is joined again, and nothing was begun', async () => {
  const { deliver, script, commits, handled, failure } = await consume()
  script.commitErrors.push(...Array.from({ length: 5 }, connectionLost))
  expect(await deliver(0, 0, 2)).toBeUndefined()
  expect(commits).toEqual(['0@0 until 2', '0@2'])
  script.commitErrors.push(...Array.from({ length: 6 }, connectionLost))
  expect(await deliver(0, 2, 4)).toMatchObject({ type: 'REBALANCE_IN_PROGRESS' })
  expect([handled, commits.length, failure()]).toEqual([['0/0,1'], 2, undefined])
  script.commitErrors.push(new Error('no right to commit'))
  await deliver(0, 2, 4)
  expect([handled.length, failure()]).toMatchObject([1, { message: 'no right to commit' }])
})

const dead = (count: number, until: number) =>
  `sluice by=${['a', 'b', 'c'].slice(0, count).join()} until=${until}`

test('what was begun when a process ended is worked on alone; what had its tries is buried, unmarked', async () => {
  const committed: BatchSetting['committed'] = { 0: ['2', dead(3, 4)] }
  const { deliver, handled, letters, commits } = await consume({ committed })
  await deliver(0, 2, 7)
  expect(handled).toEqual(['0/3', '0/4,5', '0/6'])
  expect(letters.map(({ value, headers }) => [String(value), headers?.['sluice-dlq-code']])).toEqual([
    ['2', 'CRASHED'],
  ])
  expect(commits).toEqual(['0@3 until 4', '0@4 until 6', '0@6 until 7', '0@7'])
})

test('what is suspected stays so when the end comes before its turn', async () => {
  const { deliver, state, commits } = await consume({
    committed: { 0: ['2', dead(1, 5)] },
    handle: () => void (state.isRunning = false),
  })
  await deliver(0, 2, 5)
  expect(commits).toEqual(['0@2 until 5', '0@3 until 5'])
})

test('records in their last try have it one after the other, marked in their turn, though one fails', async () => {
  const going = Promise.withResolvers<never>()
  const committed: BatchSetting['committed'] = { 0: ['2', dead(2, 3)], 1: ['5', dead(2, 6)] }
  const { deliver, handled, commits } = await consume({
    committed,
    handle: (chunk) => (chunk === '0/2' ? going.promise : undefined),
  })
  const giving = [deliver(0, 2, 3), deliver(1, 5, 6)]
  await turns()
  expect([handled, commits]).toEqual([['0/2'], ['0@2 until 3']])
  going.reject(rebalanceError())
  await Promise.all(giving)
  expect(handled).toEqual(['0/2', '1/5'])
  // The first has its two tries still.
  expect(commits).toEqual(['0@2 until 3', '0@2 until 3', '1@5 until 6', '1@6'])
})

test('a batch that begins elsewhere is read again before it is believed; what was deleted is counted at once', async () => {
  const { deliver, handled, sought, skipped, ends } = await consume({ committed: { 0: ['5', ''] } })
  await deliver(0, 7, 8)
  expect([handled, sought]).toEqual([[], ['0@5']])
  // The log says the same: a hole of transaction markers.
  await deliver(0, 7, 8)
  expect([handled, await skipped()]).toEqual([['0/7'], [0]])
  // What was read again once is none the less read again the next time.
  await deliver(0, 10, 11)
  expect(sought).toEqual(['0@5', '0@8'])
  Object.assign(ends, { 0: { low: 12, high: 100 } })
  await deliver(0, 12, 13)
  expect([handled, await skipped()]).toEqual([['0/7', '0/12'], [4]])
})

test('a topic that was recreated is read from its beginning', async () => {
  const { deliver, handled, ends, committed, skipped } = await consume({ committed: { 0: ['50', ''] } })
  Object.assign(ends, { 0: { low: 0, high: 2 } })
  await deliver(0, 0, 2)
  await deliver(0, 0, 2)
  expect([handled, committed.get(0)?.offset, await skipped()]).toEqual([['0/0,1'], '2', [48]])
})

test('nothing is read of a partition before its starting place is known, and an older answer is none', async () => {
  const { deliver, assign, gates, handled, paused, committed } = await consume()
  const first = Promise.withResolvers<undefined>()
  gates.offsets = first.promise
  await assign(0, 1)
  expect([...paused]).toEqual([0, 1])
  await deliver(0, 0, 2)
  const second = Promise.withResolvers<undefined>()
  gates.offsets = second.promise
  committed.set(0, { offset: '8', metadata: '' })
  await assign(0)
  first.resolve(undefined)
  await turns()
  expect([...paused]).toEqual([0])
  await deliver(0, 0, 2)
  expect(handled).toEqual([])
  second.resolve(undefined)
  await turns()
  expect([...paused]).toEqual([])
  await deliver(0, 8, 10)
  expect(handled).toEqual(['0/8,9'])
})

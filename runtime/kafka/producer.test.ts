import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import kafkajs, { type Kafka, type Message, type ProducerBatch, type ProducerConfig } from 'kafkajs'
import { systemClock, type Clock } from '../clock.ts'
import { createLog } from '../log.ts'
import { createMetrics } from '../metrics.ts'
import { partitionForKey } from './partition-for-key.ts'
import { createProducer } from './producer.ts'

/**
 * What becomes of a request. Only brokers that die do most of this, and never when asked
 * (tests/chaos/broker-loss.test.ts): so it is played here, by kafkajs's rules.
 */
type Disposition =
  /** Written and acknowledged; by kafkajs's second try, of which it tells nobody. */
  | 'taken'
  | 'taken at the second try'
  /** Only what is in the first partition is written, and the answer names nothing else. */
  | 'half named'
  /** All is named, but the second partition with an error. */
  | 'half refused'
  /** Written, and the answer is lost. */
  | 'unanswered'
  /** No answer comes until the client tries again, once it is told to. */
  | 'held'
  | 'too large'

const protocolError = (type: string) => Object.assign(new kafkajs.KafkaJSError(type), { type })

/**
 * Two partitions of every topic. A producer's number of a partition moves on with an acknowledgement only,
 * and what comes under a number that was written before is acknowledged and not written: the rules of brokers
 * and kafkajs that lose records when a producer id outlives a failure.
 */
function createScriptedKafka(dispositions: Disposition[]) {
  const written: { value: string; producer: number; partition: number }[] = []
  const state = { producers: 0, closed: 0, asked: 0, cannotBeAsked: 0, asks: '' }
  const held: (() => void)[] = []
  const write = (producer: number, numbers: Map<string, number>, next: Map<string, number>, batch: Batch) => {
    for (const { topic, partition, messages } of batch) {
      const place = `${topic}/${partition}`
      const number = next.get(place) ?? 0
      if (number < (numbers.get(place) ?? 0)) continue
      numbers.set(place, number + messages.length)
      written.push(...messages.map(({ value }) => ({ value: String(value), producer, partition })))
    }
  }
  const createKafkaProducer = ({ createPartitioner, idempotent }: ProducerConfig) => {
    const id = ++state.producers
    const numbers = new Map<string, number>()
    const next = new Map<string, number>()
    const place = createPartitioner?.()
    const placed = (batch: ProducerBatch): Batch =>
      (batch.topicMessages ?? []).flatMap(({ topic, messages }) => {
        const partitionOf = (message: Message) => place?.({ topic, message, partitionMetadata: [] }) ?? 0
        return [...Map.groupBy(messages, partitionOf)].map(([partition, ofIt]) => ({
          topic,
          partition,
          messages: ofIt,
        }))
      })
    const answer = (batch: Batch, errorCode = 0) =>
      batch.map(({ topic, partition, messages }) => {
        if (errorCode === 0)
          next.set(`${topic}/${partition}`, (next.get(`${topic}/${partition}`) ?? 0) + messages.length)
        return { topicName: topic, partition, errorCode }
      })
    const sendBatch = async (sent: ProducerBatch) => {
      const disposition = dispositions.shift() ?? 'taken'
      state.asks = `idempotent ${String(idempotent)}, acks ${String(sent.acks)}`
      const all = placed(sent)
      const first = all.filter(({ partition }) => partition === 0)
      if (disposition === 'too large') throw protocolError('MESSAGE_TOO_LARGE')
      if (disposition === 'held') await new Promise<void>((resolve) => held.push(resolve))
      if (disposition === 'held' || disposition === 'taken at the second try') placed(sent)
      const isHalf = disposition === 'half named' || disposition === 'half refused'
      write(id, numbers, next, isHalf ? first : all)
      if (disposition === 'unanswered') throw protocolError('REQUEST_TIMED_OUT')
      const rest = all.filter((group) => isHalf && !first.includes(group))
      return [...answer(isHalf ? first : all), ...(disposition === 'half refused' ? answer(rest, 6) : [])]
    }
    const nothing = () => Promise.resolve()
    return { connect: nothing, disconnect: () => Promise.resolve(state.closed++), sendBatch }
  }
  const admin = {
    connect: () => Promise.resolve(),
    disconnect: () => Promise.resolve(),
    fetchTopicMetadata: ({ topics: [name] }: { topics: string[] }) => {
      state.asked++
      if (state.cannotBeAsked-- > 0) return Promise.reject(protocolError('LEADER_NOT_AVAILABLE'))
      return Promise.resolve({ topics: [{ name, partitions: [{}, {}] }] })
    },
  }
  const kafka = { admin: () => admin, producer: createKafkaProducer } as unknown as Kafka
  return { kafka, written, state, letGo: () => held.splice(0).forEach((go) => go()) }
}

type Batch = { topic: string; partition: number; messages: Message[] }[]

/** Between two tries no time passes; a sender's patience ends when the test says so. */
const hasty: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) => (ms <= 1_000 ? nextTurn() : systemClock.sleep(ms, signal)),
}
const patienceMs = 20_000

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }))
afterEach(() => void jest.useRealTimers())

async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await nextTurn()
}

function createBench(
  dispositions: Disposition[],
  options: Partial<Parameters<typeof createProducer>[0]> = {},
) {
  const cluster = createScriptedKafka(dispositions)
  const metrics = createMetrics()
  const log = createLog('test', 'silent')
  const { kafka } = cluster
  const producer = createProducer({ kafka, log, metrics, clock: hasty, maxInFlight: 1, ...options })
  const valueOf = async (name: string) =>
    (await metrics.registry.getSingleMetric(name)?.get())?.values.reduce((sum, { value }) => sum + value, 0)
  return {
    ...cluster,
    producer,
    send: (...values: string[]) =>
      producer.send(values.map((value) => ({ topic: 't', key: keyIn(value), value: Buffer.from(value) }))),
    values: () => cluster.written.map(({ value }) => value),
    buffered: () => valueOf('sluice_producer_buffered_bytes'),
  }
}

/** `0 a` goes to the first partition, `1 a` to the second. */
function keyIn(value: string): string {
  return ['a', 'b', 'c', 'd', 'e'].find((key) => partitionForKey(key, 2) === Number(value[0])) ?? 'a'
}

test.each<Disposition>(['half named', 'half refused'])(
  'what an answer does not name as written (%s) goes again under the same producer id, and what follows under another',
  async (disposition) => {
    const { producer, send, written, state, buffered } = createBench([disposition])
    await send('0 a', '1 a')
    expect(written).toEqual([
      { value: '0 a', producer: 1, partition: 0 },
      { value: '1 a', producer: 1, partition: 1 },
    ])
    // What no replica but the leader has is lost with it.
    expect(state.asks).toBe('idempotent true, acks -1')
    // The leaders have moved: how many partitions there are is asked again.
    expect(state.asked).toBe(1)
    await send('1 b')
    expect(written.at(-1)).toEqual({ value: '1 b', producer: 2, partition: 1 })
    expect(state.asked).toBe(2)
    expect(await buffered()).toBe(0)
    await producer.stop()
    expect(state.closed).toBe(2)
  },
)

test('a producer id that needed a second try is not used again, others are', async () => {
  const { send, written } = createBench(['taken', 'taken at the second try'])
  for (const value of ['0 a', '0 b', '0 c']) await send(value)
  expect(written.map(({ producer }) => producer)).toEqual([1, 1, 2])
})

test('after a lost answer records go again under another id: twice is allowed, never is not', async () => {
  const { send, values, buffered } = createBench(['unanswered', 'unanswered'])
  await Promise.all([send('0 a', '0 b'), send('1 a')])
  expect(values().toSorted()).toEqual(['0 a', '0 a', '0 a', '0 b', '0 b', '0 b', '1 a', '1 a', '1 a'])
  expect(await buffered()).toBe(0)
})

test('what nobody waits for any more is given up, and not written later', async () => {
  const { producer, send, values, letGo, buffered } = createBench(['taken', 'held'])
  await send('0 before')
  const late = send('0 held')
  await turns()
  const ends = Promise.allSettled([late, send('0 behind it')])
  jest.advanceTimersByTime(patienceMs)
  expect(await ends).toMatchObject([{ reason: { code: 'KAFKA_UNAVAILABLE' } }, { status: 'rejected' }])
  await send('0 after')
  // kafkajs tries again only now, when its sender has long done something else.
  letGo()
  await producer.stop()
  expect(values()).toEqual(['0 before', '0 after'])
  expect(await buffered()).toBe(0)
})

test.each<Disposition>(['unanswered', 'half named'])(
  'what was not acknowledged (%s) until it was given up is not taken for the next record of its partition',
  async (disposition) => {
    const dispositions = Array.from({ length: 1_000 }, () => disposition)
    const { send, written, buffered } = createBench(dispositions)
    const ends = Promise.allSettled([send('1 a')])
    await turns()
    jest.advanceTimersByTime(patienceMs)
    expect(await ends).toMatchObject([{ reason: { code: 'KAFKA_UNAVAILABLE' } }])
    dispositions.length = 0
    await send('1 b')
    expect(written.at(-1)?.value).toBe('1 b')
    expect(written.at(-1)?.producer).toBeGreaterThan(1)
    expect(await buffered()).toBe(0)
  },
)

test('of records that are refused together each is tried alone, in order; only what is refused alone is', async () => {
  const { send, values, buffered } = createBench(['too large', 'too large', 'taken', 'too large'])
  const ends = await Promise.allSettled(['0 a', '0 b', '0 c', '0 d'].map((value) => send(value)))
  // Four, the first two, the first, the second, the last two.
  const refused = { reason: { code: 'RECORD_TOO_LARGE' } }
  const through = { status: 'fulfilled' }
  expect(ends).toMatchObject([through, refused, through, through])
  expect(values()).toEqual(['0 a', '0 c', '0 d'])
  expect(await buffered()).toBe(0)
})

test('a cluster that cannot be asked for partitions is asked again, and records wait in their order', async () => {
  const { send, values, state } = createBench([])
  state.cannotBeAsked = 3
  await Promise.all(['0 a', '0 b', '1 c'].map((value) => send(value)))
  expect(values().toSorted()).toEqual(['0 a', '0 b', '1 c'])
})

test('a send of several records is through when the last of them is', async () => {
  const { producer, send, values, letGo } = createBench(['taken', 'held'], { maxBatchRecords: 1 })
  let isThrough = false
  const sending = send('0 a', '0 b').then(() => (isThrough = true))
  await turns()
  expect(values()).toEqual(['0 a'])
  expect(isThrough).toBe(false)
  const stopping = producer.stop()
  letGo()
  await Promise.all([sending, stopping])
  expect(values()).toEqual(['0 a', '0 b'])
})

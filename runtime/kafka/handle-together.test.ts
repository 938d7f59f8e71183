import { expect, test } from '@jest/globals'
import type { KafkaMessage } from 'kafkajs'
import { systemClock } from '../clock.ts'
import { createLog } from '../log.ts'
import { createMetrics } from '../metrics.ts'
import { createConsumerMetrics } from './consumer-metrics.ts'
import { createGroupRunner } from './handle-together.ts'
import type { Waiting } from './partition-work.ts'
import type { ConsumedRecord, Decoder, GroupHandler } from './records.ts'

const waiting = (value: string, topic = 't'): Waiting<string> => {
  const message = { key: null, value: Buffer.from(value), timestamp: '7', offset: '8' } as KafkaMessage
  return { raw: { topic, partition: 1, offset: 8n, message }, record: null, dueMs: null }
}
const nameOf = ({ raw }: Waiting<string>) => String(raw.message.value)

/** Knows all but what begins with `unknown`. */
const decoder: Decoder<string> = {
  decode: (value) => Promise.resolve(value.toString()),
  decodeNow: (value) => (value.toString().startsWith('unknown') ? undefined : value.toString()),
}

/**
 * A runner around `handler`. `alone` are those that it has begun by themselves, `over` those that have ended;
 * both in order.
 */
function createBench(handler: GroupHandler<string>, chosen: Decoder<string> = decoder) {
  const metrics = createMetrics()
  const alone: string[] = []
  const over: string[] = []
  let now = 100_000
  const runTogether = createGroupRunner<string, Waiting<string>>({
    decoder: () => chosen,
    handler,
    metrics: createConsumerMetrics(metrics, 'g'),
    log: createLog('test', 'silent'),
    clock: { ...systemClock, now: () => now },
  })
  const valuesOf = async (name: string) => (await metrics.registry.getSingleMetric(name)?.get())?.values ?? []
  return {
    alone,
    over,
    pass: (ms: number) => void (now += ms),
    run: (...group: Waiting<string>[]) =>
      runTogether(
        group,
        (one) => void alone.push(nameOf(one)),
        (one) => void over.push(nameOf(one)),
      ),
    counted: async () =>
      (await valuesOf('sluice_kafka_records_total')).map(
        ({ labels, value }) => `${labels['topic']} ${labels['outcome']} ${value}`,
      ),
    seconds: async () =>
      (await valuesOf('sluice_kafka_handler_seconds'))
        .filter((each) => 'metricName' in each && String(each.metricName).endsWith('_sum'))
        .map(({ labels, value }) => `${labels['topic']} ${value}`),
  }
}

test('records are decoded, and given in their order', async () => {
  const given: ConsumedRecord<string>[][] = []
  const { run, alone, over } = createBench((records) => Promise.resolve(void given.push([...records])))
  await run(waiting('a'), waiting('b'), waiting('c'))
  const place = { topic: 't', partition: 1, offset: 8n, key: null, headers: {}, timestampMs: 7 }
  expect(given).toEqual([['a', 'b', 'c'].map((value) => ({ ...place, value }))])
  expect([alone, over]).toEqual([[], ['a', 'b', 'c']])
})

test('one that was decoded ahead of its time is not decoded again', async () => {
  const given: string[] = []
  const { run, over } = createBench((records) =>
    Promise.resolve(void given.push(...records.map(({ value }) => value))),
  )
  const ahead = waiting('unknown')
  const place = { topic: 't', partition: 1, offset: 8n, key: null, headers: {}, timestampMs: 7 }
  await run({ ...ahead, record: { ...place, value: 'ahead' } })
  expect([given, over]).toEqual([['ahead'], ['unknown']])
})

test('what cannot be decoded now goes alone, before the others are worked on', async () => {
  const happened: string[] = []
  const { run, alone, over } = createBench((records, handBack) => {
    happened.push(`alone ${alone.join()}`, `together ${records.map(({ value }) => value).join()}`)
    // An index counts what was given, not what came.
    handBack(1)
    return Promise.resolve()
  })
  await run(waiting('a'), waiting('unknown 1'), waiting('b'), waiting('unknown 2'))
  expect(happened).toEqual(['alone unknown 1,unknown 2', 'together a,b'])
  expect([alone, over]).toEqual([['unknown 1', 'unknown 2', 'b'], ['a']])
})

test.each([
  [
    'it has no value',
    { ...waiting('a'), raw: { ...waiting('a').raw, message: { value: null } as KafkaMessage } },
  ],
  ['the decoder does not know it', waiting('unknown')],
])('where no record can be decoded now, because %s, nobody is asked', async (_name, one) => {
  let asked = 0
  const { run, alone, over, counted } = createBench(() => Promise.resolve(void (asked += 1)))
  await run(one, one)
  expect([asked, alone.length, over, await counted()]).toEqual([0, 2, [], []])
})

test('a decoder that cannot do without waiting has everything go alone', async () => {
  const { run, alone, over } = createBench(() => Promise.resolve(), {
    decode: (value) => Promise.resolve(value.toString()),
  })
  await run(waiting('a'), waiting('b'))
  expect([alone, over]).toEqual([['a', 'b'], []])
})

test('what is handed back begins at once, what is over is over at once, and the first word counts', async () => {
  const released = Promise.withResolvers<undefined>()
  const { run, alone, over } = createBench(async (_records, handBack, end) => {
    handBack(1)
    end(3)
    await released.promise
    // Nor do the others mean anything: nothing stands there.
    for (const index of [1, 2, 2, 3, 4, -1]) handBack(index)
    for (const index of [1, 2, 3, 4, -1]) end(index)
  })
  const running = run(waiting('a'), waiting('b'), waiting('c'), waiting('d'))
  expect([alone, over]).toEqual([['b'], ['d']])
  released.resolve(undefined)
  await running
  expect([alone, over]).toEqual([
    ['b', 'c'],
    ['d', 'a'],
  ])
})

test.each<[string, () => Promise<void>]>([
  ['rejects', () => Promise.reject(new Error('surprise'))],
  // A handler need not be an async function.
  [
    'throws',
    () => {
      throw new TypeError('x is undefined')
    },
  ],
])('a handler that %s hands back all of which it has said nothing', async (_name, fail) => {
  const { run, alone, over, counted } = createBench((_records, handBack, end) => {
    handBack(1)
    end(2)
    return fail()
  })
  await run(waiting('a'), waiting('b'), waiting('c'), waiting('d'))
  expect([alone, over]).toEqual([['b', 'a', 'd'], ['c']])
  // Anyone who works on the others alone counts them.
  expect(await counted()).toEqual(['t ok 1'])
})

test.each([
  ['when it resolves', () => Promise.resolve()],
  ['when it rejects', () => Promise.reject(new Error('surprise'))],
])('what a handler says after its end means nothing: %s', async (_name, end) => {
  let late: (() => void) | undefined
  const { run, alone, over } = createBench((_records, handBack, isOver) => {
    late = () => {
      handBack(0)
      isOver(0)
    }
    return end()
  })
  await run(waiting('a'))
  const before = [[...alone], [...over]]
  late?.()
  expect([alone, over]).toEqual(before)
})

test('each that was kept is counted in its topic, with the time until it was over', async () => {
  const bench = createBench((_records, handBack, end) => {
    handBack(0)
    bench.pass(500)
    end(1)
    bench.pass(1_000)
    return Promise.resolve()
  })
  await bench.run(waiting('a'), waiting('b'), waiting('c'), waiting('unknown'), waiting('d', 'u'))
  expect(bench.over).toEqual(['b', 'c', 'd'])
  expect(await bench.counted()).toEqual(['t ok 2', 'u ok 1'])
  expect(await bench.seconds()).toEqual(['t 2', 'u 1.5'])
})

test('of what nobody kept no time is noted', async () => {
  const { run, seconds } = createBench((records, handBack) => {
    records.forEach((_record, index) => handBack(index))
    return Promise.resolve()
  })
  await run(waiting('a'), waiting('b'))
  expect(await seconds()).toEqual([])
})

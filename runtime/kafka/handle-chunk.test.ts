import { expect, test } from '@jest/globals'
import type { KafkaMessage } from 'kafkajs'
import { systemClock } from '../clock.ts'
import { PermanentError, TransientError } from '../errors.ts'
import { createMetrics } from '../metrics.ts'
import { deadLetter, drop, ok } from '../outcome.ts'
import { createConsumerMetrics } from './consumer-metrics.ts'
import { toDeadLetter, type DeadLetter } from './dead-letters.ts'
import { handleChunk } from './handle-chunk.ts'
import { isCrashed, planChunks } from './plan-chunks.ts'
import { weightBytes, type RawRecord } from './raw-record.ts'
import type { BatchHandler } from './records.ts'
import { defaultRetryPolicy } from './retry-policy.ts'

const raw = (offset: number, value = String(offset)): RawRecord => ({
  topic: 't',
  partition: 1,
  offset: BigInt(offset),
  message: {
    key: Buffer.from('k'),
    value: Buffer.from(value),
    timestamp: '7',
    offset: String(offset),
  } as KafkaMessage,
})
const retry = {
  policy: defaultRetryPolicy,
  clock: systemClock,
  signal: new AbortController().signal,
  onRetry: () => undefined,
}

test('a permanent error of a batch finds its record; the neighbours go on with positions of their own', async () => {
  const handled: string[] = []
  const positions: bigint[] = []
  const letters: DeadLetter[] = []
  const handler: BatchHandler<string> = ({ records, position }) => {
    if (records.some(({ value }) => value === '6'))
      return Promise.reject(new PermanentError('BAD_ROW', 'six'))
    handled.push(...records.map(({ value }) => value))
    positions.push(position.nextOffset)
    return Promise.resolve(records.map(() => ok()))
  }
  const records = Array.from({ length: 10 }, (_, offset) => raw(offset))
  await handleChunk(records, { cluster: 'c', topic: 't', partition: 1, nextOffset: 10n }, retry, {
    decoder: { decode: (value) => Promise.resolve(value.toString()) },
    handler,
    sendDeadLetters: (sent) => Promise.resolve(void letters.push(...sent)),
    metrics: createConsumerMetrics(createMetrics(), 'g'),
  })
  expect(handled).toEqual(['0', '1', '2', '3', '4', '5', '7', '8', '9'])
  expect(positions).toEqual([5n, 6n, 8n, 10n])
  expect(letters.map((letter) => [letter.raw.offset, letter.error.code])).toEqual([[6n, 'BAD_ROW']])
})

/** Hands over four records, of which `unreadable` cannot be decoded; the waits take no time. */
async function handleFour({
  handler,
  sendDeadLetters,
  unreadable,
  patienceMs = Infinity,
}: Partial<Parameters<typeof handleChunk<string>>[3]> & { unreadable?: Error; patienceMs?: number }) {
  const metrics = createMetrics()
  const letters: DeadLetter[] = []
  const position = { cluster: 'c', topic: 't', partition: 1, nextOffset: 4n }
  const clock = { ...systemClock, sleep: () => Promise.resolve() }
  await handleChunk(
    Array.from({ length: 4 }, (_, offset) => raw(offset)),
    position,
    { ...retry, clock, patienceMs },
    {
      decoder: {
        decode: (value) =>
          value.toString() === '2' && unreadable
            ? Promise.reject(unreadable)
            : Promise.resolve(value.toString()),
      },
      handler: handler ?? (({ records }) => Promise.resolve(records.map(() => ok()))),
      sendDeadLetters: sendDeadLetters ?? ((sent) => Promise.resolve(void letters.push(...sent))),
      metrics: createConsumerMetrics(metrics, 'g'),
    },
  )
  return { letters: letters.map(({ raw: { offset } }) => offset), metrics: await metrics.registry.metrics() }
}

test('every dead letter of a batch is sent, whether it cannot be decoded or the handler says so', async () => {
  const { letters } = await handleFour({
    unreadable: new PermanentError('UNDECODABLE', 'two'),
    handler: ({ records }) =>
      Promise.resolve(
        records.map(({ value }) => (value === '1' ? ok() : deadLetter(new PermanentError('BAD_ROW', value)))),
      ),
  })
  expect(letters.toSorted()).toEqual([0n, 2n, 3n])
})

test('dead letters that are not taken are sent again before the offset may move, and put nothing off that was done', async () => {
  let tries = 0
  const sent: bigint[] = []
  await handleFour({
    unreadable: new PermanentError('UNDECODABLE', 'two'),
    patienceMs: 0,
    sendDeadLetters: (letters) => {
      if (++tries < 3) return Promise.reject(new TransientError('KAFKA_UNAVAILABLE', 'away'))
      return Promise.resolve(void sent.push(...letters.map(({ raw: { offset } }) => offset)))
    },
  })
  expect([tries, sent]).toEqual([3, [2n]])
  await expect(
    handleFour({
      unreadable: new PermanentError('UNDECODABLE', 'two'),
      sendDeadLetters: () => Promise.reject(new TransientError('KAFKA_UNAVAILABLE', 'away')),
    }),
  ).rejects.toThrow('away')
})

test.each<[string, Error]>([
  ['is away', new TransientError('POSTGRES_UNAVAILABLE', 'not now')],
  ['is a mistake of ours', new TypeError('x is undefined')],
])('what %s makes no dead letter: the records are left to be handled again', async (_name, error) => {
  await expect(handleFour({ handler: () => Promise.reject(error) })).rejects.toBe(error)
})

test('a record whose schema cannot be read now is left to be handled again', async () => {
  const unreadable = new TransientError('REGISTRY_UNAVAILABLE', 'not now')
  await expect(handleFour({ unreadable })).rejects.toBe(unreadable)
})

test.each([3, 5])(
  '%i outcomes for four records are a mistake of the handler, and nothing is taken for done',
  async (count) => {
    const handler = () => Promise.resolve(Array.from({ length: count }, () => ok()))
    await expect(handleFour({ handler })).rejects.toThrow(`the handler gave ${count} outcomes for 4 records`)
  },
)

test('each outcome is counted, and that of a dead letter is its letter', async () => {
  const outcomes = [ok(), drop('judge_call'), deadLetter(new PermanentError('BAD_ROW', 'two')), ok()]
  const { letters, metrics } = await handleFour({ handler: () => Promise.resolve(outcomes) })
  expect(letters).toEqual([2n])
  expect(metrics).toContain('sluice_kafka_records_total{group="g",topic="t",outcome="ok"} 2')
  expect(metrics).toContain('sluice_kafka_dropped_records_total{topic="t",reason="judge_call"} 1')
})

test('suspects stand alone, the rest in chunks within the limits', () => {
  const records = Array.from({ length: 8 }, (_, offset) => raw(offset))
  const suspects = { from: 1n, mark: { writers: ['a', 'b'], until: 3n } }
  const chunks = planChunks(records, suspects, { maxRecords: 3, maxBytes: 1_000_000 })
  expect(chunks.map((chunk) => [chunk.records.map(({ offset }) => Number(offset)), chunk.tries])).toEqual([
    [[0], 1],
    [[1], 3],
    [[2], 2],
    [[3, 4, 5], 1],
    [[6, 7], 1],
  ])
  expect(planChunks(records, null, { maxRecords: 100, maxBytes: 1 })).toHaveLength(8)
  const maxBytes = 3 * weightBytes(raw(0))
  const sizes = planChunks(records, null, { maxRecords: 100, maxBytes }).map((chunk) => chunk.records.length)
  expect(sizes).toEqual([3, 3, 2])
  expect([3, 4].map((tries) => isCrashed({ records, tries }))).toEqual([false, true])
})

test('a dead letter keeps the bytes and says where they stood, or leaves them out where they must not be kept', () => {
  const key = Buffer.from([0xff, 0x00])
  const message = { ...raw(5, 'bytes').message, key, headers: { a: ['1', '2'] } } as unknown as KafkaMessage
  const record: RawRecord = { ...raw(5), message }
  const letter = { raw: record, error: new PermanentError('BAD', 'no') }
  const kept = toDeadLetter(letter, { groupId: 'g', atMs: 0, keepValue: true })
  expect(kept).toMatchObject({ topic: 't.dlq', value: Buffer.from('bytes') })
  expect(kept.headers).toEqual({
    a: Buffer.from('2'),
    'sluice-dlq-code': 'BAD',
    'sluice-dlq-message': 'no',
    'sluice-dlq-topic': 't',
    'sluice-dlq-partition': '1',
    'sluice-dlq-offset': '5',
    'sluice-dlq-timestamp': '7',
    'sluice-dlq-at': '1970-01-01T00:00:00.000Z',
    'sluice-dlq-group': 'g',
    'sluice-dlq-key-base64': '/wA=',
  })
  const left = toDeadLetter(letter, { groupId: 'g', atMs: 0, keepValue: false })
  expect(left).toMatchObject({ value: null, headers: { 'sluice-dlq-value': 'omitted' } })
})

import { expect, test } from '@jest/globals'
import type { KafkaMessage } from 'kafkajs'
import { pino } from 'pino'
import { systemClock } from '../clock.ts'
import { PermanentError, TransientError } from '../errors.ts'
import { createMetrics } from '../metrics.ts'
import { createConsumerMetrics } from './consumer-metrics.ts'
import { createDeadLetters, fromDeadLetter, toDeadLetter } from './dead-letters.ts'
import { bytesOf } from './queued-record.ts'
import type { RawRecord } from './raw-record.ts'
import type { OutgoingRecord } from './records.ts'

const error = new PermanentError('BAD_ROW', 'six')
const rawOf = (key: string): RawRecord => {
  const headers = { traceparent: Buffer.from('00-1') }
  const parts = { key: Buffer.from(key), value: Buffer.from('x'), headers, timestamp: '7', offset: '8' }
  return { topic: 't', partition: 1, offset: 8n, message: parts as unknown as KafkaMessage }
}

/** Dead letters by a producer that takes what `take` takes. */
function createSending(take: (record: OutgoingRecord) => Promise<void>, omitValue = () => false) {
  const lines: Record<string, unknown>[] = []
  const write = (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>)
  const nothing = () => Promise.resolve()
  const send = createDeadLetters({
    producer: { send: ([record]) => take(record as OutgoingRecord), start: nothing, stop: nothing },
    groupId: 'g',
    clock: systemClock,
    log: pino({}, { write }),
    metrics: createConsumerMetrics(createMetrics(), 'g'),
    omitValue,
  })
  return { lines, send: (key = 'k') => send([{ raw: rawOf(key), error }]) }
}

test.each([
  ['a request', 'req_01h455vb4pex5vsknk084sn02q', 'req_01h455vb4pex5vsknk084sn02q'],
  ['what is no identifier and may be what somebody wrote', 'my card is 4111', undefined],
])(
  'the log names the place of a dead letter, and its key only where that is an identifier: %s',
  async (_what, key, logged) => {
    const { lines, send } = createSending(() => Promise.resolve())
    await send(key)
    expect(lines).toMatchObject([
      { msg: 'record dead-lettered', code: 'BAD_ROW', topic: 't', partition: 1, offset: '8' },
    ])
    expect(lines[0]?.['key']).toBe(logged)
  },
)

test('one that its topic does not take goes without its value, and is waited for', async () => {
  const taken: OutgoingRecord[] = []
  const arrived = Promise.withResolvers<undefined>()
  const { lines, send } = createSending((record) => {
    if (record.value !== null) return Promise.reject(new PermanentError('RECORD_TOO_LARGE', 'too large'))
    taken.push(record)
    return arrived.promise
  })
  let isSent = false
  const sending = send().then(() => (isSent = true))
  await new Promise(setImmediate)
  expect(taken).toMatchObject([{ key: 'k', value: null, headers: { 'sluice-dlq-value': 'omitted' } }])
  expect(taken[0]?.headers).not.toHaveProperty('traceparent')
  expect(isSent).toBe(false)
  arrived.resolve(undefined)
  await sending
  expect(lines.map(({ msg }) => msg)).toEqual(['dead letter sent without its value', 'record dead-lettered'])
})

test('however large key and headers are, what happened is kept', async () => {
  const taken: OutgoingRecord[] = []
  const { send } = createSending((record) => {
    if (bytesOf(record) > 10_000) return Promise.reject(new PermanentError('RECORD_TOO_LARGE', 'too large'))
    taken.push(record)
    return Promise.resolve()
  })
  await send('k'.repeat(20_000))
  await send(Buffer.alloc(20_000, 0xff).toString('latin1'))
  expect(taken.map(({ key }) => key.length)).toEqual([1_000, 1_000])
  expect(taken).toMatchObject([
    { headers: { 'sluice-dlq-offset': '8' } },
    { headers: { 'sluice-dlq-offset': '8' } },
  ])
})

test('what passes by itself is not a reason to leave the value out', async () => {
  const values: (Buffer | null)[] = []
  const { send } = createSending(({ value }) => {
    values.push(value)
    return Promise.reject(new TransientError('KAFKA_UNAVAILABLE', 'away'))
  })
  await expect(send()).rejects.toMatchObject({ code: 'KAFKA_UNAVAILABLE' })
  expect(values).toEqual([Buffer.from('x')])
})

test('content that must not be kept is left out', async () => {
  const values: (Buffer | null)[] = []
  const { send } = createSending(
    ({ value }) => Promise.resolve(void values.push(value)),
    () => true,
  )
  await send()
  expect(values).toEqual([null])
})

test('what is sent back is the record as it was', () => {
  const raw = rawOf('k')
  const letter = toDeadLetter(
    { raw, error: new PermanentError('BAD', 'm'.repeat(5_000)) },
    { groupId: 'g', atMs: 0, keepValue: true },
  )
  expect(letter).toMatchObject({ key: 'k', headers: { 'sluice-dlq-message': 'm'.repeat(1_000) } })
  const message = { ...raw.message, value: letter.value, headers: letter.headers } as KafkaMessage
  expect(fromDeadLetter({ ...raw, message }, 't')).toEqual({
    topic: 't',
    key: 'k',
    value: Buffer.from('x'),
    headers: { traceparent: Buffer.from('00-1') },
  })
})

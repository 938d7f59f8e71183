import { beforeEach, expect, test } from '@jest/globals'
import { ok } from '../outcome.ts'
import type { Span, TraceContext, Tracing } from '../tracing/tracing.ts'
import type { Batch, BatchHandler, ConsumedRecord, GroupHandler, RecordHandler } from './records.ts'
import { traceBatches, traceByValue, traceRecords } from './trace-handlers.ts'
import { traceSends } from './trace-sends.ts'

interface Noted {
  name: string
  origins: readonly (TraceContext | undefined)[]
  ends: unknown[]
}

let noted: Noted[]
const ofSpan = { traceparent: `00-${'e'.repeat(32)}-${'f'.repeat(16)}-01` }
/** Notes what it is asked for. Its spans are of no record's trace. */
const tracing: Tracing = {
  start(name, _kind, origins): Span {
    const ends: unknown[] = []
    noted.push({ name, origins, ends })
    return {
      context: ofSpan,
      set: () => undefined,
      parentFor: (origin) => origin ?? ofSpan,
      end: (error) => ends.push(error ?? 'well'),
    }
  },
  close: () => Promise.resolve(),
}
const traceOf = (n: number) => ({ traceparent: `00-${String(n).repeat(32)}-${'a'.repeat(16)}-01` })
const signal = new AbortController().signal
const groupId = 'group'

function record(n: number, headers: Record<string, string> = traceOf(n)): ConsumedRecord<string> {
  return {
    topic: 'calls',
    partition: 0,
    offset: BigInt(n),
    key: null,
    value: `v${n}`,
    headers,
    timestampMs: 0,
  }
}

function batchOf(...records: ConsumedRecord<string>[]): Batch<string> {
  return { records, position: { cluster: 'c', topic: 'calls', partition: 0, nextOffset: 9n } }
}

const endsOf = () => noted.map(({ ends }) => ends)

beforeEach(() => {
  noted = []
})

test("a batch's span has the records' contexts, and work for each goes on in its own", async () => {
  const handle: BatchHandler<string> = (batch) => {
    const of = traceByValue(batch)
    expect(['v1', 'v2', 'v3'].map(of)).toEqual([traceOf(1), ofSpan, ofSpan])
    return Promise.resolve(batch.records.map(() => ok()))
  }
  const { handler } = traceBatches({ groupId, tracing, handler: handle })
  await handler(batchOf(record(1), record(2, {}), record(3, { traceparent: 'broken' })), signal)
  expect(noted).toEqual([
    { name: 'process calls', origins: [traceOf(1), undefined, undefined], ends: ['well'] },
  ])
})

test('a handler that fails fails its span, and the error goes on', async () => {
  const failure = new Error('broken')
  const handleBatch: BatchHandler<string> = () => Promise.reject(failure)
  const handleRecord: RecordHandler<string> = () => Promise.reject(failure)
  const batches = traceBatches({ groupId, tracing, handler: handleBatch })
  const records = traceRecords({ groupId, tracing, handler: handleRecord })
  await expect(batches.handler(batchOf(record(1)), signal)).rejects.toBe(failure)
  await expect(records.handler(record(1), signal)).rejects.toBe(failure)
  expect(endsOf()).toEqual([[failure], [failure]])
})

test('each record of a group has a span, which ends once: over, handed back, or with the group', async () => {
  const seen: string[] = []
  const groupHandler: GroupHandler<string> = async (records, handBack, over) => {
    expect(records.every(({ span }) => span?.context === ofSpan)).toBe(true)
    over(0)
    handBack(1)
    expect(endsOf().map(({ length }) => length)).toEqual([1, 1, 0])
    over(0)
    return Promise.resolve()
  }
  const handler: RecordHandler<string> = () => Promise.resolve(ok())
  const traced = traceRecords({ groupId, tracing, groupHandler, handler })
  await traced.groupHandler(
    [record(1), record(2), record(3)],
    (index) => seen.push(`back ${index}`),
    (index) => seen.push(`over ${index}`),
  )
  expect(seen).toEqual(['over 0', 'back 1', 'over 0'])
  expect(endsOf()).toEqual([['well'], ['well'], ['well']])
})

test('without traces, options and producer stay what they are', () => {
  const options = { groupId, handler: () => Promise.resolve([]) }
  const producer = { start: never, stop: never, send: never, health: () => ({ status: 'ok' as const }) }
  expect(traceBatches(options)).toBe(options)
  expect(traceRecords({ ...options, handler: never })).not.toHaveProperty('groupHandler')
  expect(traceSends(producer, undefined)).toBe(producer)
  expect(traceByValue(batchOf(record(1)))('v1')).toBeUndefined()
})

test('a producer sends the context of its span beside the other headers, of records that have a trace', async () => {
  const sent: unknown[] = []
  const failure = new Error('away')
  let isAway = false
  const send = (records: readonly object[]) => {
    sent.push(...records)
    return isAway ? Promise.reject(failure) : Promise.resolve()
  }
  const producer = { start: never, stop: never, send, health: () => ({ status: 'ok' as const }) }
  const traced = traceSends(producer, tracing)
  const plain = { topic: 'jobs', key: 'k', value: null }
  await traced.send([{ ...plain, headers: { own: '1' }, trace: traceOf(1) }, plain])
  expect(sent).toEqual([expect.objectContaining({ headers: { own: '1', ...ofSpan } }), plain])
  expect(noted).toEqual([{ name: 'send jobs', origins: [traceOf(1)], ends: ['well'] }])
  isAway = true
  await expect(traced.send([{ ...plain, trace: traceOf(1) }])).rejects.toBe(failure)
  expect(noted[1]?.ends).toEqual([failure])
})

function never(): Promise<never> {
  return Promise.reject(new Error('not asked for'))
}

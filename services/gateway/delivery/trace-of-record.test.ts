import { expect, test } from '@jest/globals'
import { newId } from '#schemas/ids.ts'
import { buildRecord } from '../recording/build-record.ts'
import { withoutBodies } from '../recording/without-bodies.ts'
import { projectNamedBy } from './route-records.ts'
import { traceOfRecord } from './trace-of-record.ts'

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const projectId = newId('project', 0)

async function recordOf(trace: { traceparent: string; tracestate?: string } | undefined, project?: string) {
  const bytes = Buffer.from('{"model":"m","traceparent":"not this one"}')
  const call = {
    id: newId('request', 0),
    caller: { projectId: project, isEphemeral: false },
    path: '/v1/x',
    upstream: { hostname: 'provider.test', provider: undefined },
    ...{ labels: {}, trace, requestEncoding: '', answer: null, arrivals: null },
    request: { bytes, byteLength: bytes.length, sha256: null },
    ...{ status: 200, latencyMs: 1, abortedBy: null, error: null },
  }
  return buildRecord(call, 1_000, (error) => {
    throw error
  })
}

test.each([
  ['without a state', { traceparent }],
  ['with a state', { traceparent, tracestate: 'vendor=1,other=2' }],
  ['whose state is escaped in JSON', { traceparent, tracestate: 'v=\\"}' }],
  ['whose state is as long as it may be', { traceparent, tracestate: 'v='.padEnd(512, '"') }],
])('a record has its trace %s, also once its bodies are erased', async (_name, trace) => {
  for (const project of [undefined, projectId]) {
    const record = await recordOf(trace, project)
    expect(traceOfRecord(record)).toEqual(trace)
    expect(traceOfRecord(withoutBodies(record) ?? record)).toEqual(trace)
    expect(projectNamedBy(record)).toBe(project)
  }
})

test.each([
  ['that is no JSON', `{"id":"a","traceparent":"${traceparent}","tracestate":"\\q"}`],
  ['that is no context', `{"id":"a","traceparent":"${'0'.repeat(55)}"}`],
  ['that is cut off', `{"id":"a","traceparent":"${traceparent}`],
])('a trace %s is none', (_name, record) => {
  expect(traceOfRecord(Buffer.from(record))).toBeUndefined()
})

test('a record without a trace has none, whatever its body says', async () => {
  const record = await recordOf(undefined)
  expect(record.toString().match(/traceparent/g)).toHaveLength(1)
  expect(traceOfRecord(record)).toBeUndefined()
})

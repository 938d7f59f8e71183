import { expect, test } from '@jest/globals'
import { fieldAt, listOf } from '#capture/json.ts'
import { readLogs } from '#capture/otel/read-logs.ts'
import { readSpans, type Span } from '#capture/otel/read-spans.ts'
import { otlpLogs, otlpRequest } from '#capture/otel/testing/otlp-request.ts'
import { joinCalls, waitingLogs, waitingSpan } from '#capture/otel/waiting-call.ts'
import { Problem, unavailable } from '#http/problem.ts'
import { systemClock } from '#runtime/clock.ts'
import { createLog } from '#runtime/log.ts'
import { createMetrics } from '#runtime/metrics.ts'
import type { LogResult } from '../log-calls.ts'
import type { DueCall, WaitingCallStore } from '../stores/waiting-call-store.ts'
import { createWaitingPublisher } from './publish-waiting.ts'

const projectId = 'prj_00000000000000000000000000'

/** A call of a span, with the question `words`. */
function dueCall(id: string, words: string): DueCall {
  const attributes = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': id }
  const [read] = [...readSpans(otlpRequest([{ attributes }]))]
  const logs = [...readLogs(otlpLogs([{ eventName: 'gen_ai.user.message', body: words }]))]
  const span = waitingSpan((read as { span: Span }).span, {})
  const call = joinCalls(
    span,
    waitingLogs(logs.flatMap((one) => (one !== null && 'log' in one ? [one.log] : []))),
  )
  return { id, version: 1, call }
}

const tooLarge = new Problem(413, 'RECORD_TOO_LARGE', 'too large')
const invalid = new Problem(422, 'INVALID_INPUT', 'refused')
const away = unavailable('QUEUE_UNAVAILABLE', 'away', null)

/** What is answered for a record, by its model. */
function resultOf(record: unknown): LogResult {
  const hasWords = listOf(fieldAt(record, 'request_body', 'messages')).length > 0
  const model = fieldAt(record, 'model')
  if (model === 'large' && hasWords) return tooLarge
  return model === 'away' ? away : typeof model === 'string' ? { id: model } : invalid
}

test('what Kafka has not acknowledged stays; words that cannot be recorded are left out', async () => {
  const calls = [dueCall('kept', 'Hi'), dueCall('away', 'Hi'), dueCall('large', 'Hi')]
  calls.push({ id: 'unopened', version: 1, call: null })
  const marked = Promise.withResolvers<string[]>()
  let due = [projectId]
  const store: WaitingCallStore = {
    waitMs: 0,
    takesOf: () => true,
    add: () => Promise.reject(new Error('nothing is added')),
    findDue: () => Promise.resolve(due),
    take: () => {
      due = []
      return Promise.resolve({ calls, spanless: 2 })
    },
    markPublished: (_project, done) => {
      marked.resolve(done.map(({ id }) => id))
      return Promise.resolve(1)
    },
    count: () => Promise.resolve({ calls: 4, bytes: 9 }),
  }
  const metrics = createMetrics()
  const publisher = createWaitingPublisher({
    store,
    logCalls: (_principal, records) =>
      Promise.resolve(records.map((record) => resultOf(JSON.parse(record.toString())))),
    clock: systemClock,
    log: createLog('test', 'silent'),
    metrics,
    takeTurn: () => Promise.resolve(),
  })
  publisher.start()
  expect(await marked.promise).toEqual(['kept', 'large', 'unopened'])
  await publisher.stop()
  const text = await metrics.registry.metrics()
  for (const line of [
    'calls_total{outcome="joined"} 1',
    'calls_total{outcome="without_words"} 1',
    'calls_total{outcome="refused"} 1',
    'calls_total{outcome="without_span"} 2',
    'calls 4',
    'bytes 9',
  ])
    expect(text).toContain(`sluice_ingest_waiting_${line}\n`)
  expect(text).toContain('sluice_ingest_log_records_total{outcome="late"} 1\n')
})

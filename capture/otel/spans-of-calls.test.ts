import { expect, test } from '@jest/globals'
import { readSpans, type Span } from './read-spans.ts'
import { recordOfSpan } from './span-record.ts'
import { labelsOfCalls, spansOfCalls } from './spans-of-calls.ts'
import { otlpRequest, type GivenSpan } from './testing/otlp-request.ts'
import { projectId } from './testing/recorded-span.ts'

const chat = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'm' }
const [outer, inner, other] = ['00000000000000a1', '00000000000000b2', '00000000000000c3']

/** Each given in a scope of its own, as instrumentations are. */
function read(given: readonly (GivenSpan & { scope?: string })[]): Span[] {
  return [...readSpans(otlpRequest(given))].map((one, index) => ({
    ...(one as { span: Span }).span,
    scope: given[index]?.scope ?? 'test-scope',
  }))
}

const recorded = (given: Parameters<typeof read>[0]) => spansOfCalls(read(given)).map(({ spanId }) => spanId)

test('a call that two instrumentations trace, one inside the other, is recorded once', () => {
  const given = [
    { attributes: chat, spanId: inner, parentSpanId: outer },
    { attributes: chat, spanId: outer },
    { attributes: chat, spanId: other },
  ]
  expect(recorded(given)).toEqual([outer, other])
})

test("Anthropic's own span within that of Traceloop, in another trace, is the same call by its answer", () => {
  const attributes = { ...chat, 'gen_ai.response.id': 'msg_1' }
  const own = { attributes, spanId: inner, startMs: 1_790_000_000_010, durationMs: 80 }
  const around = {
    attributes,
    spanId: outer,
    traceId: 'f'.repeat(32),
    startMs: 1_790_000_000_000,
    durationMs: 100,
  }
  const scopes = { own: 'com.anthropic.sdk.python', around: 'opentelemetry.instrumentation.anthropic' }
  expect(
    recorded([
      { ...own, scope: scopes.own },
      { ...around, scope: scopes.around },
    ]),
  ).toEqual([outer])
  // Servers that give every answer one identifier: calls of one instrumentation, or one after the other.
  expect(recorded([own, around])).toEqual([inner, outer])
  const later = { ...own, startMs: 1_790_000_000_090 }
  expect(
    recorded([
      { ...later, scope: scopes.own },
      { ...around, scope: scopes.around },
    ]),
  ).toEqual([inner, outer])
})

test('a call has the session of its trace and the nearest agent around it', () => {
  const spans = read([
    { attributes: chat, spanId: inner, parentSpanId: other },
    { attributes: { 'openinference.span.kind': 'CHAIN' }, spanId: other, parentSpanId: outer },
    { attributes: { 'agent.name': 'helper' }, spanId: outer, parentSpanId: '00000000000000d4' },
    { attributes: { 'agent.name': 'root', 'session.id': 's1' }, spanId: '00000000000000d4' },
  ])
  expect(labelsOfCalls(spans)(spans[0] as Span)).toEqual({ agent_name: 'helper', session_id: 's1' })
})

test('spans that are each their own ancestor end the search', () => {
  const spans = read([
    { attributes: chat, spanId: inner, parentSpanId: outer },
    { attributes: {}, spanId: outer, parentSpanId: inner },
  ])
  expect(labelsOfCalls(spans)(spans[0] as Span)).toEqual({})
})

test('two calls of one model in one trace are two records, in one request or in two', () => {
  const around = { attributes: {}, spanId: other }
  const first = { attributes: chat, spanId: outer, parentSpanId: other }
  const second = { attributes: chat, spanId: inner, parentSpanId: other }
  expect(recorded([around, first, second])).toEqual([outer, inner])
  expect([...recorded([first]), ...recorded([second, around])]).toEqual([outer, inner])
  const ids = read([first, second]).map((span) => recordOfSpan(span, projectId)?.['id'])
  expect(new Set(ids).size).toBe(2)
})

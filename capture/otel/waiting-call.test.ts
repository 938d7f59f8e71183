import { expect, test } from '@jest/globals'
import { readLogs, type CallLog } from './read-logs.ts'
import { readSpans, type Span } from './read-spans.ts'
import { recordOfSpan } from './span-record.ts'
import { otlpLogs, otlpRequest, type GivenLog } from './testing/otlp-request.ts'
import { projectId } from './testing/recorded-span.ts'
import { awaitsWords, joinCalls, progressOf, recordOfCall, waitingLogs, waitingSpan } from './waiting-call.ts'

const chat = { 'gen_ai.operation.name': 'chat', 'gen_ai.system': 'openai', 'gen_ai.request.model': 'model-1' }
const call = { id: 'c1', type: 'function', function: { name: 'look_up', arguments: '{"word":"sluice"}' } }

const spanOf = (attributes: Record<string, unknown> = chat, status?: { code: number }): Span =>
  ([...readSpans(otlpRequest([{ attributes, ...(status && { status }) }]))][0] as { span: Span }).span
const logsOf = (logs: readonly GivenLog[]): CallLog[] =>
  [...readLogs(otlpLogs(logs))].flatMap((read) => (read !== null && 'log' in read ? [read.log] : []))

const events = logsOf([
  { eventName: 'gen_ai.system.message', body: { content: 'Be brief.' } },
  { eventName: 'gen_ai.user.message', body: { content: 'What is a sluice?' } },
  { eventName: 'gen_ai.assistant.message', body: { tool_calls: [call] } },
  { eventName: 'gen_ai.tool.message', body: { id: 'c1', content: 'a gate' } },
  {
    eventName: 'gen_ai.choice',
    body: { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'A gate.' } },
  },
])
const words = {
  request_body: {
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'What is a sluice?' },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', content: 'a gate' },
    ],
  },
  response_body: { choices: [{ message: { role: 'assistant', content: 'A gate.' } }] },
}
const span = waitingSpan(spanOf(), { agent_name: 'helper' })

test('log records are the events of their span', () => {
  const joined = joinCalls(span, waitingLogs(events))
  expect(progressOf(joined)).toBe('settling')
  expect(recordOfCall(joined, projectId)).toMatchObject({ ...words, agent_name: 'helper' })
})

test('one record with all messages of a call is the whole of it', () => {
  const parts = (content: string) => [{ type: 'text', content }]
  const logs = logsOf([
    {
      eventName: 'gen_ai.client.inference.operation.details',
      attributes: {
        'gen_ai.system_instructions': parts('Be brief.'),
        'gen_ai.input.messages': [{ role: 'user', parts: parts('What is a sluice?') }],
        'gen_ai.output.messages': JSON.stringify([{ role: 'assistant', parts: parts('A gate.') }]),
      },
    },
  ])
  const joined = joinCalls(waitingLogs(logs), span)
  expect(progressOf(joined)).toBe('whole')
  expect(recordOfCall(joined, projectId)).toMatchObject({
    request_body: { messages: words.request_body.messages.slice(0, 2) },
    response_body: words.response_body,
  })
})

test.each([
  ['a call of a model without words', chat, true],
  ['one with words', { ...chat, 'gen_ai.input.messages': '[{"role":"user","content":"Hi"}]' }, false],
  ['embeddings', { ...chat, 'gen_ai.operation.name': 'embeddings' }, false],
  ['a tool', { ...chat, 'gen_ai.operation.name': 'execute_tool' }, false],
  ['another convention', { 'openinference.span.kind': 'LLM', 'llm.model_name': 'm' }, false],
])('whether %s waits', (_name, attributes, waits) => {
  const one = spanOf(attributes)
  expect(awaitsWords(one, recordOfSpan(one, projectId) ?? {})).toBe(waits)
})

test.each([
  ['no words', [], 'open'],
  ['a request alone', events.slice(0, 2), 'open'],
  ['both sides', events, 'settling'],
] as const)('a span with %s is %s', (_name, logs, progress) => {
  expect(progressOf(joinCalls(span, waitingLogs(logs)))).toBe(progress)
  expect(progressOf(waitingLogs(logs))).toBe('open')
})

test('a call that failed has no answer to wait for', () => {
  const failed = waitingSpan(spanOf(chat, { code: 2 }), {})
  expect(progressOf(joinCalls(failed, waitingLogs(events.slice(0, 2))))).toBe('settling')
})

test.each([
  ['the question', [{ eventName: 'gen_ai.user.message', body: {} }, events[4]]],
  [
    "a tool's arguments",
    [
      {
        eventName: 'gen_ai.assistant.message',
        body: { tool_calls: [{ ...call, function: { name: 'look_up' } }] },
      },
      events[4],
    ],
  ],
])('events without %s are said to be read in part', (_name, [left, answer]) => {
  const logs = [...logsOf([left as GivenLog]), answer as CallLog]
  const record = recordOfCall(joinCalls(span, waitingLogs(logs)), projectId)
  expect(record).toMatchObject({ request_body: { truncated: true }, response_body: words.response_body })
})

test('what lost words for a limit says so on both sides', () => {
  const joined = { ...joinCalls(span, waitingLogs(events)), truncated: true }
  expect(recordOfCall(joined, projectId)).toMatchObject({
    request_body: { ...words.request_body, truncated: true },
    response_body: { ...words.response_body, truncated: true },
  })
})

test('parts in any order, divided and repeated in any way, are one call', () => {
  const whole = recordOfCall(joinCalls(span, waitingLogs(events)), projectId)
  let state = 20_261_129
  const draw = (below: number) => (state = (state * 48_271) % 2_147_483_647) % below
  for (let times = 0; times < 300; times++) {
    const divided = [draw(5), draw(5)].sort((a, b) => a - b)
    const pieces = [
      events.slice(0, divided[0]),
      events.slice(divided[0], divided[1]),
      events.slice(divided[1]),
    ]
    const parts = [span, ...pieces.map(waitingLogs)]
    const sent = [...parts, ...Array.from({ length: draw(6) }, () => parts[draw(4)] ?? span)]
    for (let at = sent.length - 1; at > 0; at--) {
      const other = draw(at + 1)
      ;[sent[at], sent[other]] = [sent[other] ?? span, sent[at] ?? span]
    }
    const throughJson = sent.map((part) => JSON.parse(JSON.stringify(part)) as typeof part)
    expect(recordOfCall(throughJson.reduce(joinCalls), projectId)).toEqual(whole)
  }
})

test('a question that was asked twice stays twice', () => {
  const twice = logsOf([
    { eventName: 'gen_ai.user.message', body: { content: 'Why?' }, timeNs: '5' },
    { eventName: 'gen_ai.user.message', body: { content: 'Why?' }, timeNs: '5' },
  ])
  const joined = [waitingLogs(twice), span, waitingLogs(twice)].reduce(joinCalls)
  expect(recordOfCall(joined, projectId)).toMatchObject({
    request_body: { messages: [{ content: 'Why?' }, { content: 'Why?' }] },
  })
})

test('records of one time stay in the order of their export', () => {
  const sent = events.map((log) => ({ ...log, time: '0'.repeat(20) }))
  const joined = [span, waitingLogs(sent), waitingLogs(sent)].reduce(joinCalls)
  expect(recordOfCall(joined, projectId)).toMatchObject(words)
})

test('log records without words, and those that name no span', () => {
  const read = [
    ...readLogs(
      otlpLogs([
        { eventName: 'app.started', body: 'x' },
        { eventName: 'gen_ai.choice', spanId: '', body: 'x' },
      ]),
    ),
  ]
  expect(read).toEqual([null, { fault: expect.stringContaining('gen_ai.choice') }])
})

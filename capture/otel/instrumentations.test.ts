import { expect, test } from '@jest/globals'
import { readSpans, type Span } from './read-spans.ts'
import { recordOfSpan } from './span-record.ts'
import { otlpRequest, type GivenSpan } from './testing/otlp-request.ts'
import { projectId, recordedSpan as recorded } from './testing/recorded-span.ts'

/** What current instrumentations write, each as `scripts/test --platform otel` saw it. */
const json = JSON.stringify
const chat = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'model-1' }
const answer = { role: 'assistant', parts: [{ type: 'text', content: 'A gate for water.' }] }

test("Anthropic's client: written cache, the first chunk's seconds and why it stopped", () => {
  const attributes = {
    ...chat,
    'gen_ai.usage.input_tokens': 100,
    'gen_ai.usage.cache_write.input_tokens': 30,
    'gen_ai.usage.output_tokens': 6,
    'gen_ai.response.time_to_first_chunk': 0.0865,
    'anthropic.message.stop_reason': 'end_turn',
    'gen_ai.output.messages': json([answer]),
  }
  expect(recorded({ attributes })).toMatchObject({
    prompt_tokens: 100,
    cache_write_tokens: 30,
    time_to_first_token_ms: 86.5,
    response_body: { choices: [{ message: { content: 'A gate for water.' }, finish_reason: 'end_turn' }] },
  })
})

test('OpenInference says why an answer ended once', () => {
  const attributes = {
    'openinference.span.kind': 'LLM',
    'llm.model_name': 'model-1',
    'llm.finish_reason': 'stop',
    'llm.output_messages.0.message.content': 'A gate for water.',
  }
  expect(recorded({ attributes })).toMatchObject({ response_body: { choices: [{ finish_reason: 'stop' }] } })
})

test("Vercel's tool results are their values, and its details of tokens are read", () => {
  const output = { type: 'json', value: { found: 'a gate' } }
  const attributes = {
    'ai.operationId': 'ai.generateText.doGenerate',
    'ai.model.id': 'model-1',
    'ai.prompt.messages': json([
      { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c1', toolName: 'look_up', output }] },
    ]),
    'ai.response.text': 'A gate for water.',
    'ai.response.finishReason': 'stop',
    'ai.usage.inputTokens': 12,
    'ai.usage.inputTokenDetails.cacheReadTokens': 4,
    'ai.usage.inputTokenDetails.cacheWriteTokens': 3,
  }
  expect(recorded({ attributes })).toMatchObject({
    prompt_tokens: 8,
    cached_tokens: 4,
    cache_write_tokens: 3,
    request_body: { messages: [{ role: 'tool', content: '{"found":"a gate"}', tool_call_id: 'c1' }] },
    response_body: { choices: [{ finish_reason: 'stop' }] },
  })
})

test('Langfuse writes texts of metadata in quotes, and counts a written cache beside the input', () => {
  const attributes = {
    'langfuse.observation.type': 'generation',
    'langfuse.observation.metadata.finish_reason': '"stop"',
    'langfuse.observation.metadata.team': '"gates"',
    'langfuse.observation.metadata.size': '7',
    'langfuse.observation.output': 'A gate for water.',
    'langfuse.observation.usage_details': json({ input: 40, cache_creation_input_tokens: 30, output: 6 }),
  }
  expect(recorded({ attributes })).toMatchObject({
    prompt_tokens: 70,
    cache_write_tokens: 30,
    metadata: { finish_reason: 'stop', team: 'gates', size: '7' },
    response_body: { choices: [{ finish_reason: 'stop' }] },
  })
})

/** As the scope of Logfire's clients; these have no other sign. */
function ofLogfire(given: GivenSpan): ReturnType<typeof recordOfSpan> {
  const [read] = [...readSpans(otlpRequest([given]))]
  return recordOfSpan({ ...(read as { span: Span }).span, scope: 'logfire.openai' }, projectId)
}

test("Logfire's stream is the log of its end, with its duration; the span of its beginning is no call", () => {
  expect(ofLogfire({ attributes: chat })).toBeNull()
  const attributes = {
    ...chat,
    'logfire.span_type': 'log',
    duration: 2.5,
    'gen_ai.output.messages': json([answer]),
    'gen_ai.usage.input_tokens': 12,
    'gen_ai.usage.output_tokens': 6,
    'gen_ai.usage.raw': json({ completion_tokens: 6, completion_tokens_details: { reasoning_tokens: 2 } }),
  }
  expect(ofLogfire({ attributes, durationMs: 0 })).toMatchObject({
    latency_ms: 2_500,
    completion_tokens: 4,
    reasoning_tokens: 2,
  })
  const older = { ...chat, response_data: json({ combined_chunk_content: 'A gate', chunk_count: 2 }) }
  expect(ofLogfire({ attributes: older })).toMatchObject({
    response_body: { choices: [{ message: { role: 'assistant', content: 'A gate' } }] },
  })
  expect(ofLogfire({ attributes: chat, status: { code: 2, message: 'no' } })).toMatchObject({ error: 'no' })
})

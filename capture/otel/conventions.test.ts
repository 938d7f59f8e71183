import { expect, test } from '@jest/globals'
import type { GivenSpan } from './testing/otlp-request.ts'
import { recordedSpan as recorded } from './testing/recorded-span.ts'

const question = { role: 'user', content: 'What is a sluice?' }
const answer = { role: 'assistant', content: 'A gate for water.' }
const instructions = { role: 'system', content: 'Be brief.' }
const call = { id: 'c1', type: 'function', function: { name: 'look_up', arguments: '{"word":"sluice"}' } }
const found = { role: 'tool', tool_call_id: 'c1', content: 'a gate' }
/** Of which 60 were cached and 5 were thought. */
const tokens = { prompt_tokens: 40, cached_tokens: 60, completion_tokens: 15, reasoning_tokens: 5 }
const json = JSON.stringify

const messagesOfParts = [
  { role: 'user', parts: [{ type: 'text', content: question.content }] },
  {
    role: 'assistant',
    parts: [{ type: 'tool_call', id: 'c1', name: 'look_up', arguments: { word: 'sluice' } }],
  },
  { role: 'tool', parts: [{ type: 'tool_call_response', id: 'c1', response: 'a gate' }] },
]
const answerOfParts = [
  { role: 'assistant', parts: [{ type: 'text', content: answer.content }], finish_reason: 'stop' },
]
const genAi = {
  'gen_ai.operation.name': 'chat',
  'gen_ai.request.model': 'm',
  'gen_ai.response.model': 'model-1',
  'gen_ai.response.finish_reasons': ['stop'],
}
const genAiTokens = {
  'gen_ai.usage.input_tokens': 100,
  'gen_ai.usage.output_tokens': 20,
  'gen_ai.usage.cache_read.input_tokens': 60,
  'gen_ai.usage.reasoning.output_tokens': 5,
}
const parts = {
  'gen_ai.system_instructions': json([{ type: 'text', content: instructions.content }]),
  'gen_ai.input.messages': json(messagesOfParts),
  'gen_ai.output.messages': json(answerOfParts),
}
const called = { role: 'assistant', content: null, tool_calls: [call] }
const withTools = [instructions, question, called, found]

test.each<[string, GivenSpan, readonly object[]]>([
  [
    'GenAI, messages as attributes in JSON',
    { attributes: { ...genAi, ...genAiTokens, ...parts, 'gen_ai.provider.name': 'openai' } },
    withTools,
  ],
  [
    'GenAI, messages as structured attributes',
    {
      attributes: {
        ...genAi,
        ...genAiTokens,
        'gen_ai.system': 'openai',
        'gen_ai.system_instructions': [{ type: 'text', content: instructions.content }],
        'gen_ai.input.messages': messagesOfParts,
        'gen_ai.output.messages': answerOfParts,
      },
    },
    withTools,
  ],
  [
    'GenAI, messages on one event',
    {
      attributes: { ...genAi, ...genAiTokens, 'gen_ai.system': 'openai' },
      events: [{ name: 'gen_ai.client.inference.operation.details', attributes: parts }],
    },
    withTools,
  ],
  [
    'GenAI, an event for each message',
    {
      attributes: { ...genAi, ...genAiTokens, 'gen_ai.system': 'openai' },
      events: [
        { name: 'gen_ai.system.message', attributes: { content: instructions.content } },
        { name: 'gen_ai.user.message', attributes: { content: question.content } },
        { name: 'gen_ai.assistant.message', attributes: { tool_calls: json([call]) } },
        { name: 'gen_ai.tool.message', attributes: { id: 'c1', role: 'tool', content: 'a gate' } },
        { name: 'gen_ai.choice', attributes: { index: 0, finish_reason: 'stop', message: json(answer) } },
      ],
    },
    withTools,
  ],
  [
    'Traceloop',
    {
      attributes: {
        'llm.request.type': 'chat',
        'gen_ai.system': 'OpenAI',
        'gen_ai.response.model': 'model-1',
        'gen_ai.prompt.0.role': 'system',
        'gen_ai.prompt.0.content': instructions.content,
        'gen_ai.prompt.1.role': 'user',
        'gen_ai.prompt.1.content': question.content,
        'gen_ai.prompt.2.role': 'assistant',
        'gen_ai.prompt.2.tool_calls.0.id': 'c1',
        'gen_ai.prompt.2.tool_calls.0.name': 'look_up',
        'gen_ai.prompt.2.tool_calls.0.arguments': call.function.arguments,
        'gen_ai.prompt.3.role': 'tool',
        'gen_ai.prompt.3.content': 'a gate',
        'gen_ai.prompt.3.tool_call_id': 'c1',
        'gen_ai.completion.0.role': 'assistant',
        'gen_ai.completion.0.content': answer.content,
        'gen_ai.completion.0.finish_reason': 'stop',
        'gen_ai.usage.prompt_tokens': 100,
        'gen_ai.usage.completion_tokens': 20,
        'gen_ai.usage.cache_read_input_tokens': 60,
        'gen_ai.usage.reasoning_tokens': 5,
      },
    },
    withTools,
  ],
  [
    'OpenInference',
    {
      attributes: {
        'openinference.span.kind': 'LLM',
        'llm.model_name': 'model-1',
        'llm.provider': 'openai',
        'llm.input_messages.0.message.role': 'system',
        'llm.input_messages.0.message.content': instructions.content,
        'llm.input_messages.1.message.role': 'user',
        'llm.input_messages.1.message.contents.0.message_content.type': 'text',
        'llm.input_messages.1.message.contents.0.message_content.text': question.content,
        'llm.input_messages.2.message.role': 'assistant',
        'llm.input_messages.2.message.tool_calls.0.tool_call.id': 'c1',
        'llm.input_messages.2.message.tool_calls.0.tool_call.function.name': 'look_up',
        'llm.input_messages.2.message.tool_calls.0.tool_call.function.arguments': call.function.arguments,
        'llm.input_messages.3.message.role': 'tool',
        'llm.input_messages.3.message.content': 'a gate',
        'llm.input_messages.3.message.tool_call_id': 'c1',
        'llm.output_messages.0.message.role': 'assistant',
        'llm.output_messages.0.message.content': answer.content,
        'llm.token_count.prompt': 100,
        'llm.token_count.completion': 20,
        'llm.token_count.prompt_details.cache_read': 60,
        'llm.token_count.completion_details.reasoning': 5,
      },
    },
    withTools,
  ],
  [
    'Langfuse',
    {
      attributes: {
        'langfuse.observation.type': 'generation',
        'langfuse.observation.model.name': 'model-1',
        'gen_ai.system': 'openai',
        'langfuse.observation.input': json({ messages: [instructions, question] }),
        'langfuse.observation.output': json(answer),
        'langfuse.observation.usage_details': json({
          input: 40,
          input_cached_tokens: 60,
          output: 15,
          output_reasoning_tokens: 5,
        }),
      },
    },
    [instructions, question],
  ],
  [
    "Vercel's AI SDK",
    {
      attributes: {
        'ai.operationId': 'ai.streamText.doStream',
        'ai.model.id': 'm',
        'ai.response.model': 'model-1',
        'ai.model.provider': 'openai.chat',
        'ai.prompt.messages': json([
          instructions,
          { role: 'user', content: [{ type: 'text', text: question.content }] },
          {
            role: 'assistant',
            content: [
              { type: 'tool-call', toolCallId: 'c1', toolName: 'look_up', input: { word: 'sluice' } },
            ],
          },
          { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c1', output: 'a gate' }] },
        ]),
        'ai.response.text': answer.content,
        'ai.usage.inputTokens': 100,
        'ai.usage.outputTokens': 20,
        'ai.usage.cachedInputTokens': 60,
        'ai.usage.reasoningTokens': 5,
      },
    },
    withTools,
  ],
  [
    'Logfire',
    {
      attributes: {
        'gen_ai.request.model': 'm',
        'gen_ai.response.model': 'model-1',
        'gen_ai.system': 'openai',
        request_data: json({ model: 'm', messages: [instructions, question] }),
        response_data: json({ message: answer, usage: {} }),
        ...genAiTokens,
      },
    },
    [instructions, question],
  ],
])('a model call of %s', (_name, span, messages) => {
  expect(recorded(span)).toMatchObject({
    model: 'model-1',
    provider: 'openai',
    source: 'otel',
    latency_ms: 250,
    agent_name: 'web-shop',
    ...tokens,
    request_body: { model: 'model-1', messages },
    response_body: { choices: [{ index: 0, message: answer }] },
  })
})

import { createServer, type ServerResponse } from 'node:http'
import { fieldAt, listOf, type JsonObject } from '#capture/json.ts'
import { startLocalServer, type LocalServer } from '../../support/local-server.ts'

/** What the provider says. Of 12 prompt tokens 4 are cached, of 6 of the answer 2 are thoughts. */
export const said = 'A gate for water.'
export const toolCall = { name: 'look_up', arguments: { word: 'sluice' } }
const pieces = ['A gate', ' for water.']
const chatUsage = {
  ...{ prompt_tokens: 12, completion_tokens: 6, total_tokens: 18 },
  prompt_tokens_details: { cached_tokens: 4 },
  completion_tokens_details: { reasoning_tokens: 2 },
}
const responseUsage = {
  ...{ input_tokens: 12, output_tokens: 6, total_tokens: 18 },
  input_tokens_details: { cached_tokens: 4 },
  output_tokens_details: { reasoning_tokens: 2 },
}
/** Anthropic counts what is cached beside the input, and no thoughts. A stream begins with no output. */
const messageUsage = {
  ...{ input_tokens: 8, output_tokens: 0 },
  cache_read_input_tokens: 4,
  cache_creation_input_tokens: 0,
}

/**
 * A model provider of chat completions, responses and messages; it is outside the system. With tools it first
 * calls one.
 */
export async function startProvider(): Promise<LocalServer> {
  let answered = 0
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString()) as JsonObject
      const { pathname } = new URL(request.url ?? '/', 'http://localhost')
      const answerOf = pathname.endsWith('/chat/completions')
        ? chat
        : pathname.endsWith('/responses')
          ? responses
          : messages
      send(response, body, answerOf(body, (answered += 1)))
    })
  })
  return startLocalServer(server)
}

interface Answer {
  whole: object
  events: readonly object[]
  done?: string
}

function send(response: ServerResponse, body: JsonObject, { whole, events, done }: Answer): void {
  if (body['stream'] !== true) {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(whole))
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of events) {
    const type = fieldAt(event, 'type')
    const name = typeof type === 'string' ? `event: ${type}\n` : ''
    response.write(`${name}data: ${JSON.stringify(event)}\n\n`)
  }
  response.end(done)
}

/** Whether this is the first call of a conversation with tools. */
function callsTool(body: JsonObject): boolean {
  const asked = listOf(body['messages'] ?? body['input'])
  return (
    listOf(body['tools']).length > 0 && !/tool_result|function_call_output|"tool"/.test(JSON.stringify(asked))
  )
}

function chat(body: JsonObject, number: number): Answer {
  const common = { id: `chatcmpl-${number}`, created: 1_790_000_000, model: body['model'] }
  const call = {
    id: 'call_1',
    type: 'function',
    function: { name: toolCall.name, arguments: JSON.stringify(toolCall.arguments) },
  }
  const [message, deltas, finish_reason] = callsTool(body)
    ? [{ content: null, tool_calls: [call] }, [{ tool_calls: [{ index: 0, ...call }] }], 'tool_calls']
    : [{ content: said }, pieces.map((content) => ({ content })), 'stop']
  const role = 'assistant'
  const chunk = (fields: object) => ({ ...common, object: 'chat.completion.chunk', ...fields })
  const choices = (delta: object, reason: string | null) => [{ index: 0, delta, finish_reason: reason }]
  return {
    whole: {
      ...common,
      object: 'chat.completion',
      choices: [{ index: 0, message: { role, ...message }, finish_reason }],
      usage: chatUsage,
    },
    events: [
      ...deltas.map((delta, at) =>
        chunk({ choices: choices({ ...(at === 0 && { role }), ...delta }, null) }),
      ),
      chunk({ choices: choices({}, finish_reason) }),
      ...(fieldAt(body, 'stream_options', 'include_usage') === true
        ? [chunk({ choices: [], usage: chatUsage })]
        : []),
    ],
    done: 'data: [DONE]\n\n',
  }
}

function responses(body: JsonObject, number: number): Answer {
  const item = callsTool(body)
    ? {
        id: 'fc_1',
        type: 'function_call',
        call_id: 'call_1',
        status: 'completed',
        name: toolCall.name,
        arguments: JSON.stringify(toolCall.arguments),
      }
    : {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: said, annotations: [] }],
      }
  const begun = {
    ...{
      id: `resp_${number}`,
      object: 'response',
      model: body['model'],
      created_at: 1_790_000_000,
      status: 'in_progress',
    },
    ...{
      parallel_tool_calls: true,
      tool_choice: 'auto',
      tools: [],
      output: [],
      instructions: body['instructions'] ?? null,
    },
  }
  const whole = { ...begun, status: 'completed', output: [item], usage: responseUsage }
  const at = { output_index: 0, content_index: 0, item_id: item.id }
  const words = item.type === 'message' ? pieces : []
  const events = [
    { type: 'response.created', response: begun },
    { type: 'response.output_item.added', output_index: 0, item: { ...item, content: [], arguments: '' } },
    ...words.map((delta) => ({ type: 'response.output_text.delta', ...at, delta, logprobs: [] })),
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: whole },
  ]
  return { whole, events: events.map((event, sequence_number) => ({ ...event, sequence_number })) }
}

function messages(body: JsonObject, number: number): Answer {
  const tool = { type: 'tool_use', id: 'toolu_1', name: toolCall.name }
  const begun = {
    ...{ id: `msg_${number}`, type: 'message', role: 'assistant', model: body['model'] },
    ...{ content: [], stop_reason: null, stop_sequence: null, usage: messageUsage },
  }
  const [block, start, deltas, stop_reason] = callsTool(body)
    ? [
        { ...tool, input: toolCall.arguments },
        { ...tool, input: {} },
        [{ type: 'input_json_delta', partial_json: JSON.stringify(toolCall.arguments) }],
        'tool_use',
      ]
    : [
        { type: 'text', text: said },
        { type: 'text', text: '' },
        pieces.map((text) => ({ type: 'text_delta', text })),
        'end_turn',
      ]
  return {
    whole: { ...begun, content: [block], stop_reason, usage: { ...messageUsage, output_tokens: 6 } },
    events: [
      { type: 'message_start', message: begun },
      { type: 'content_block_start', index: 0, content_block: start },
      ...deltas.map((delta) => ({ type: 'content_block_delta', index: 0, delta })),
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 6 } },
      { type: 'message_stop' },
    ],
  }
}

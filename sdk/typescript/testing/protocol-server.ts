import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { listen } from '../../../runtime/operations-server.ts'
import { events, json, lines, said, type Answer } from './answers.ts'
import { ollama, responses, toolAnswers } from './tool-answers.ts'

/** A model provider for tests, over HTTP. Speaks the protocol of the requested path. */
export interface ProtocolServer {
  url: string
  seen: { path: string; headers: IncomingHttpHeaders; body: Record<string, unknown> }[]
  /** Faults of the next answers, one each. */
  misbehave(...faults: Fault[]): void
  stop(): Promise<void>
}

/** `hang` sends the first half of the answer and stops, `fail` adds an error to it. */
export type Fault = { status: number } | 'break' | 'hang' | 'fail'

const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }

function chat(streamed: boolean): Answer {
  const common = { id: 'c1', created: 1_790_000_000, model: 'model-1' }
  if (!streamed) {
    const choices = [{ index: 0, message: { role: 'assistant', content: said }, finish_reason: 'stop' }]
    return json({ ...common, object: 'chat.completion', choices, usage })
  }
  const chunk = (fields: object) => ({ ...common, object: 'chat.completion.chunk', ...fields })
  const delta = (content: string) =>
    chunk({ choices: [{ index: 0, delta: { role: 'assistant', content }, finish_reason: null }] })
  return events(
    delta('Hello'),
    delta(' there'),
    chunk({ choices: [{ index: 0, delta: { content: '' }, finish_reason: 'stop' }], usage }),
    '[DONE]',
  )
}

function messages(streamed: boolean): Answer {
  const message = { id: 'm1', type: 'message', role: 'assistant', model: 'model-1', stop_sequence: null }
  const counted = { input_tokens: 3, output_tokens: 2 }
  if (!streamed)
    return json({
      ...message,
      content: [{ type: 'text', text: said }],
      stop_reason: 'end_turn',
      usage: counted,
    })
  const delta = (text: string) => ({
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'text_delta', text },
  })
  return events(
    { type: 'message_start', message: { ...message, content: [], stop_reason: null, usage: counted } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    delta('Hello'),
    delta(' there'),
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: 2 },
    },
    { type: 'message_stop' },
  )
}

function cohere(streamed: boolean): Answer {
  const counted = {
    billed_units: { input_tokens: 3, output_tokens: 2 },
    tokens: { input_tokens: 3, output_tokens: 2 },
  }
  if (!streamed) {
    const message = { role: 'assistant', content: [{ type: 'text', text: said }] }
    return json({ id: 'c1', finish_reason: 'COMPLETE', message, usage: counted })
  }
  const content = (type: string, fields: object) => ({
    type,
    index: 0,
    delta: { message: { content: fields } },
  })
  return events(
    {
      type: 'message-start',
      id: 'c1',
      delta: { message: { role: 'assistant', content: [], tool_plan: '', tool_calls: [], citations: [] } },
    },
    content('content-start', { type: 'text', text: '' }),
    content('content-delta', { text: 'Hello' }),
    content('content-delta', { text: ' there' }),
    { type: 'content-end', index: 0 },
    { type: 'message-end', delta: { finish_reason: 'COMPLETE', usage: counted } },
  )
}

function cohereFirst(streamed: boolean): Answer {
  const response = {
    text: said,
    generation_id: 'g',
    finish_reason: 'COMPLETE',
    meta: { tokens: { input_tokens: 3, output_tokens: 2 } },
  }
  if (!streamed) return json(response)
  return lines(
    'application/stream+json',
    { event_type: 'stream-start', generation_id: 'g', is_finished: false },
    { event_type: 'text-generation', text: said, is_finished: false },
    { event_type: 'stream-end', finish_reason: 'COMPLETE', response, is_finished: true },
  )
}

function candidates(streamed: boolean): Answer {
  const part = (text: string, finishReason?: string) => ({
    candidates: [
      { content: { role: 'model', parts: [{ text }] }, ...(finishReason && { finishReason }), index: 0 },
    ],
    modelVersion: 'model-1',
    usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2 },
  })
  return streamed ? events(part('Hello'), part(' there', 'STOP')) : json(part(said, 'STOP'))
}

function interaction(streamed: boolean): Answer {
  const common = { id: 'v1_1', object: 'interaction', model: 'model-1' }
  const counted = { total_input_tokens: 3, total_output_tokens: 2, total_tokens: 5 }
  const content = [{ type: 'text', text: said }]
  if (!streamed)
    return json({
      ...common,
      status: 'completed',
      steps: [{ type: 'model_output', content }],
      usage: counted,
    })
  const delta = (text: string) => ({ event_type: 'step.delta', index: 0, delta: { type: 'text', text } })
  return events(
    { event_type: 'interaction.created', interaction: { ...common, status: 'in_progress' } },
    { event_type: 'step.start', index: 0, step: { type: 'model_output' } },
    delta('Hello'),
    delta(' there'),
    { event_type: 'step.stop', index: 0 },
    { event_type: 'interaction.completed', interaction: { ...common, status: 'completed', usage: counted } },
    '[DONE]',
  )
}

function conversation(streamed: boolean): Answer {
  const entry = { id: 'e1', model: 'mistral-medium-latest', role: 'assistant' }
  const call = { id: 'e2', name: 'look_up', tool_call_id: 't1' }
  if (!streamed)
    return json({
      object: 'conversation.response',
      conversation_id: 'conv_1',
      outputs: [
        { object: 'entry', type: 'message.output', ...entry, content: said },
        { object: 'entry', type: 'function.call', ...call, arguments: '{"x":1}' },
      ],
      usage,
    })
  const delta = (content: object | string) => ({
    type: 'message.output.delta',
    ...entry,
    output_index: 0,
    content_index: 0,
    content,
  })
  const more = (text: string) => ({ type: 'function.call.delta', ...call, output_index: 1, arguments: text })
  return events(
    { type: 'conversation.response.started', conversation_id: 'conv_1' },
    delta('Hello'),
    delta(' there'),
    more('{"x"'),
    more(':1}'),
    { type: 'conversation.response.done', usage },
  )
}

const answers: readonly (readonly [string, (streamed: boolean) => Answer])[] = [
  ['/chat/completions', chat],
  ['/v1/messages', messages],
  ['/v1/responses', (streamed) => responses(streamed, false)],
  ['/api/chat', (streamed) => ollama(streamed, false)],
  ['/v2/chat', cohere],
  ['/v1/chat', cohereFirst],
  [':generateContent', candidates],
  ['/interactions', interaction],
  ['/conversations', conversation],
  ['/restart', conversation],
  [':streamGenerateContent', () => candidates(true)],
]

function answerTo(path: string, body: Record<string, unknown>): Answer {
  const known = 'tools' in body || 'toolConfig' in body ? toolAnswers : answers
  const found = known.find(([end]) => (path.split('?')[0] ?? '').endsWith(end))
  return found === undefined ? json({ data: [] }) : found[1](body['stream'] === true)
}

export async function startProtocolServer(): Promise<ProtocolServer> {
  const seen: ProtocolServer['seen'] = []
  const faults: Fault[] = []
  const server = createServer((request, response) => {
    const parts: Buffer[] = []
    request.on('data', (part: Buffer) => parts.push(part))
    request.on('end', () => {
      const text = Buffer.concat(parts).toString()
      const body = (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>
      const path = request.url ?? ''
      seen.push({ path, headers: request.headers, body })
      void write(response, answerTo(path, body), faults.shift())
    })
  })
  // Longer than pauses between tests, so that no connection is closed just when a client reuses it.
  server.keepAliveTimeout = 60_000
  await listen(server, 0, '127.0.0.1')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    misbehave: (...given) => faults.push(...given),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Anthropic names its events, OpenAI does not. */
function failureAfter([first = '']: Answer['chunks']): string {
  const error = { type: 'overloaded_error', message: 'Overloaded' }
  const { chunks } = events(String(first).startsWith('event:') ? { type: 'error', error } : { error })
  return chunks.join('')
}

async function write(
  response: ServerResponse,
  { type, chunks }: Answer,
  fault: Fault | undefined,
): Promise<void> {
  if (typeof fault === 'object') {
    const body = JSON.stringify({ error: { message: 'not now', type: 'x' }, message: 'not now' })
    response.writeHead(fault.status, { 'content-type': 'application/json', 'retry-after': '0' }).end(body)
    return
  }
  response.writeHead(200, { 'content-type': type })
  const half = Math.ceil(chunks.length / 2)
  for (const chunk of fault === undefined ? chunks : chunks.slice(0, half)) {
    response.write(chunk)
    // Chunk by chunk, as models stream.
    await sleep(1)
  }
  if (fault === 'fail') response.write(failureAfter(chunks))
  if (fault === 'break') response.destroy()
  else if (fault === undefined) response.end()
}

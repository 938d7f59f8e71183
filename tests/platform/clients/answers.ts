import { amazonChunk, converseEvent } from '../../support/amazon-event.ts'

/** What every stand-in says, and what it counts. */
export const said = 'The gate is open.'
export const tokens = { prompt: 11, completion: 7 }

/** An answer as bytes with their type; a stream in pieces. */
export interface StandInAnswer {
  type: string
  pieces: readonly (string | Buffer)[]
}

interface Asked {
  model: string
  isStream: boolean
}

interface Endpoint {
  at: RegExp
  answer(asked: Asked): StandInAnswer
}

const json = (body: object): StandInAnswer => ({ type: 'application/json', pieces: [JSON.stringify(body)] })
const events = (...all: (object | string)[]): StandInAnswer => ({
  type: 'text/event-stream',
  pieces: all.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`),
})
const named = (...all: ({ type: string } & Readonly<Record<string, unknown>>)[]): StandInAnswer => ({
  type: 'text/event-stream',
  pieces: all.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`),
})
const lines = (...all: object[]): StandInAnswer => ({
  type: 'application/x-ndjson',
  pieces: all.map((line) => `${JSON.stringify(line)}\n`),
})
const amazon = (...pieces: Buffer[]): StandInAnswer => ({
  type: 'application/vnd.amazon.eventstream',
  pieces,
})

const [begun, ended] = [said.slice(0, 4), said.slice(4)]
const total = tokens.prompt + tokens.completion
const usage = { prompt_tokens: tokens.prompt, completion_tokens: tokens.completion, total_tokens: total }
const inputUsage = { prompt_tokens: tokens.prompt, total_tokens: tokens.prompt }

function chat({ model, isStream }: Asked): StandInAnswer {
  const head = { id: 'chatcmpl-1', created: 1_790_000_000, model }
  if (!isStream) {
    const message = { role: 'assistant', content: said }
    const choices = [{ index: 0, message, finish_reason: 'stop' }]
    return json({ ...head, object: 'chat.completion', choices, usage })
  }
  const chunk = { ...head, object: 'chat.completion.chunk' }
  const piece = (delta: object, reason: string | null = null) => ({
    ...chunk,
    choices: [{ index: 0, delta, finish_reason: reason }],
  })
  return events(
    piece({ role: 'assistant', content: begun }),
    piece({ content: ended }),
    piece({}, 'stop'),
    { ...chunk, choices: [], usage },
    '[DONE]',
  )
}

function responses({ model, isStream }: Asked): StandInAnswer {
  const part = { type: 'output_text', text: said, annotations: [] }
  const item = { type: 'message', id: 'msg_1', status: 'completed', role: 'assistant', content: [part] }
  const counted = {
    input_tokens: tokens.prompt,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: tokens.completion,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: total,
  }
  const head = { id: 'resp_1', object: 'response', created_at: 1_790_000_000, model }
  const whole = { ...head, status: 'completed', output: [item], usage: counted }
  if (!isStream) return json(whole)
  const at = { item_id: item.id, output_index: 0, content_index: 0 }
  return named(
    { type: 'response.created', response: { ...head, status: 'in_progress', output: [], usage: null } },
    { type: 'response.output_item.added', output_index: 0, item: { ...item, content: [] } },
    { type: 'response.content_part.added', ...at, part: { ...part, text: '' } },
    { type: 'response.output_text.delta', ...at, delta: begun },
    { type: 'response.output_text.delta', ...at, delta: ended },
    { type: 'response.output_text.done', ...at, text: said },
    { type: 'response.content_part.done', ...at, part },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: whole },
  )
}

const inputTokens = { input_tokens: tokens.prompt, output_tokens: 1 }

function messageEvents(model: string) {
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model, content: [], stop_reason: null }
  return [
    { type: 'message_start', message: { ...message, stop_sequence: null, usage: inputTokens } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: begun } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: ended } },
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: tokens.completion },
    },
    { type: 'message_stop' },
  ]
}

function wholeMessage(model: string): object {
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model,
    content: [{ type: 'text', text: said }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { ...inputTokens, output_tokens: tokens.completion },
  }
}

function candidates({ model, isStream }: Asked): StandInAnswer {
  const usageMetadata = {
    promptTokenCount: tokens.prompt,
    candidatesTokenCount: tokens.completion,
    totalTokenCount: total,
  }
  const answer = (text: string, more: object) => ({
    candidates: [{ content: { role: 'model', parts: [{ text }] }, index: 0, ...more }],
    usageMetadata,
    modelVersion: model,
    responseId: 'r1',
  })
  const end = { finishReason: 'STOP' }
  return isStream ? events(answer(begun, {}), answer(ended, end)) : json(answer(said, end))
}

const converseUsage = { inputTokens: tokens.prompt, outputTokens: tokens.completion, totalTokens: total }

function converse({ isStream }: Asked): StandInAnswer {
  const message = { role: 'assistant', content: [{ text: said }] }
  const metrics = { latencyMs: 1 }
  if (!isStream) return json({ output: { message }, stopReason: 'end_turn', usage: converseUsage, metrics })
  const at = { contentBlockIndex: 0 }
  return amazon(
    converseEvent('messageStart', { role: 'assistant' }),
    converseEvent('contentBlockDelta', { ...at, delta: { text: begun } }),
    converseEvent('contentBlockDelta', { ...at, delta: { text: ended } }),
    converseEvent('contentBlockStop', at),
    converseEvent('messageStop', { stopReason: 'end_turn' }),
    converseEvent('metadata', { usage: converseUsage, metrics }),
  )
}

function cohere({ isStream }: Asked): StandInAnswer {
  const counted = { input_tokens: tokens.prompt, output_tokens: tokens.completion }
  const counts = { billed_units: counted, tokens: counted }
  const content = [{ type: 'text', text: said }]
  const end = { finish_reason: 'COMPLETE' }
  if (!isStream) return json({ id: 'c1', message: { role: 'assistant', content }, ...end, usage: counts })
  const delta = (text: string) => ({
    type: 'content-delta',
    index: 0,
    delta: { message: { content: { text } } },
  })
  const start = { message: { content: { type: 'text', text: '' } } }
  return named(
    { type: 'message-start', id: 'c1', delta: { message: { role: 'assistant', content: [] } } },
    { type: 'content-start', index: 0, delta: start },
    delta(begun),
    delta(ended),
    { type: 'content-end', index: 0 },
    { type: 'message-end', delta: { ...end, usage: counts } },
  )
}

function ollama(field: (text: string) => object): Endpoint['answer'] {
  return ({ model, isStream }) => {
    const piece = (text: string, more: object) => ({
      ...{ model, created_at: '2026-01-01T00:00:00Z', ...field(text), done: false },
      ...more,
    })
    const counts = { prompt_eval_count: tokens.prompt, eval_count: tokens.completion }
    const end = { done: true, done_reason: 'stop', ...counts }
    return isStream ? lines(piece(begun, {}), piece(ended, {}), piece('', end)) : json(piece(said, end))
  }
}

const vector = [0.25, -0.5]
const results = [{ index: 0, relevance_score: 0.75 }]

/** Every endpoint that a client asks. The first whose path matches answers. */
const endpoints: readonly Endpoint[] = [
  { at: /\/chat\/completions$|\/fim\/completions$/, answer: chat },
  { at: /\/v1\/responses$/, answer: responses },
  {
    at: /\/v1\/messages$/,
    answer: ({ model, isStream }) => (isStream ? named(...messageEvents(model)) : json(wholeMessage(model))),
  },
  { at: /:(?:stream)?generateContent$/i, answer: candidates },
  {
    at: /:embedContent$|:batchEmbedContents$/,
    answer: () => json({ embeddings: [{ values: vector }], embedding: { values: vector } }),
  },
  {
    at: /:predict$/,
    answer: () =>
      json({
        predictions: [{ embeddings: { values: vector, statistics: { token_count: tokens.prompt } } }],
      }),
  },
  { at: /\/model\/[^/]+\/invoke$/, answer: () => json(wholeMessage('claude-sonnet-4-5')) },
  {
    at: /\/model\/[^/]+\/invoke-with-response-stream$/,
    answer: () => amazon(...messageEvents('claude-sonnet-4-5').map(amazonChunk)),
  },
  { at: /\/model\/[^/]+\/converse(?:-stream)?$/, answer: converse },
  { at: /\/v2\/chat$/, answer: cohere },
  {
    at: /\/v2\/embed$/,
    answer: () =>
      json({
        id: 'e1',
        embeddings: { float: [vector] },
        texts: ['A gate'],
        meta: { billed_units: { input_tokens: tokens.prompt } },
      }),
  },
  {
    at: /\/v2\/rerank$/,
    answer: () => json({ id: 'r1', results, meta: { billed_units: { search_units: 1 } } }),
  },
  {
    at: /\/v1\/rerank$/,
    answer: ({ model }) => json({ object: 'list', data: results, model, usage: inputUsage }),
  },
  { at: /\/api\/chat$/, answer: ollama((content) => ({ message: { role: 'assistant', content } })) },
  { at: /\/api\/generate$/, answer: ollama((response) => ({ response })) },
  {
    at: /\/api\/embed$/,
    answer: ({ model }) => json({ model, embeddings: [vector], prompt_eval_count: tokens.prompt }),
  },
  {
    at: /\/embeddings$/,
    answer: ({ model }) => {
      const data = [{ object: 'embedding', index: 0, embedding: vector }]
      return json({ object: 'list', data, model, usage: inputUsage })
    },
  },
]

/** What the stand-in says at a path; undefined where no provider has it. */
export function standInAnswer(path: string, asked: Asked): StandInAnswer | undefined {
  return endpoints.find(({ at }) => at.test(path))?.answer(asked)
}

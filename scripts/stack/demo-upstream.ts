import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'

const BETWEEN_CHUNKS_MS = 15
const EMBEDDING_DIMENSIONS = 64

const chatRequest = z.object({
  model: z.string().default('demo'),
  messages: z.array(z.looseObject({ role: z.string(), content: z.unknown().optional() })).min(1),
  stream: z.boolean().nullish(),
  stream_options: z.object({ include_usage: z.boolean().optional() }).nullish(),
})
const embeddingRequest = z.object({
  model: z.string().default('demo'),
  input: z.union([z.string(), z.array(z.string())]),
})

type ChatRequest = z.output<typeof chatRequest>

/**
 * Replaces a model provider if none is configured. Speaks the chat-completions protocol, streamed or not,
 * under any path that ends like the provider's. The answer repeats the question, so it can be found again,
 * and is always the same.
 */
export function createDemoUpstream(): Server {
  return createServer((request, response) => {
    void serve(request, response)
  })
}

interface Answer {
  status: number
  body: object
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    const path = request.url?.split('?', 1)[0] ?? '/'
    const json = parseJson(await text(request))
    const chat = chatRequest.safeParse(json)
    if (path.endsWith('/chat/completions') && chat.data?.stream === true)
      await streamChat(chat.data, response)
    else send(response, answerOf(request.method ?? '', path, json))
  } catch (error) {
    // The client disconnected during its request.
    response.destroy(error instanceof Error ? error : undefined)
  }
}

function answerOf(method: string, path: string, json: unknown): Answer {
  if (method === 'GET' && path.endsWith('/models')) {
    return {
      status: 200,
      body: { object: 'list', data: [{ id: 'demo', object: 'model', owned_by: 'sluice' }] },
    }
  }
  if (method === 'POST' && path.endsWith('/chat/completions')) return parseThen(chatRequest, json, chatAnswer)
  if (method === 'POST' && path.endsWith('/embeddings'))
    return parseThen(embeddingRequest, json, embeddingsAnswer)
  return failure(404, `the demonstration upstream does not know ${method} ${path}`)
}

function parseThen<T>(schema: z.ZodType<T>, json: unknown, then: (request: T) => object): Answer {
  const parsed = schema.safeParse(json)
  return parsed.success
    ? { status: 200, body: then(parsed.data) }
    : failure(400, z.prettifyError(parsed.error))
}

function chatAnswer(request: ChatRequest): object {
  const content = reply(request)
  const message = { role: 'assistant', content, refusal: null }
  return {
    ...envelope(request, 'chat.completion'),
    choices: [{ index: 0, message, finish_reason: 'stop', logprobs: null }],
    usage: usageOf(request, content),
  }
}

async function streamChat(request: ChatRequest, response: ServerResponse): Promise<void> {
  const content = reply(request)
  const base = envelope(request, 'chat.completion.chunk')
  const write = (part: object) => response.write(`data: ${JSON.stringify({ ...base, ...part })}\n\n`)
  const choice = (delta: object, finish_reason: string | null = null) => ({
    choices: [{ index: 0, delta, finish_reason }],
  })
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' })
  write(choice({ role: 'assistant', content: '' }))
  for (const word of content.split(/(?<= )/)) {
    if (response.destroyed) return
    write(choice({ content: word }))
    await delay(BETWEEN_CHUNKS_MS)
  }
  write(choice({}, 'stop'))
  if (request.stream_options?.include_usage === true) write({ choices: [], usage: usageOf(request, content) })
  response.end('data: [DONE]\n\n')
}

function embeddingsAnswer({ model, input }: z.output<typeof embeddingRequest>): object {
  const inputs = Array.isArray(input) ? input : [input]
  const data = inputs.map((one, index) => ({ object: 'embedding', index, embedding: embeddingOf(one) }))
  const tokens = inputs.reduce((sum, one) => sum + countTokens(one), 0)
  return { object: 'list', data, model, usage: { prompt_tokens: tokens, total_tokens: tokens } }
}

/** One number per bit of a hash: equal texts have equal vectors. */
function embeddingOf(input: string): number[] {
  const digest = createHash('sha256').update(input).digest()
  return Array.from(
    { length: EMBEDDING_DIMENSIONS },
    (_unused, index) => ((digest[index % 32] ?? 0) - 127.5) / 1024,
  )
}

function reply({ messages }: ChatRequest): string {
  const question = messages.findLast(({ role }) => role === 'user') ?? messages.at(-1)
  const asked = contentText(question?.content)
  return `This is the demonstration upstream. You said: ${asked === '' ? '(nothing)' : asked}`
}

/** Content is text, or a list of parts, some of them text. */
function contentText(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content
    .map((part: { text?: unknown } | null) => (typeof part?.text === 'string' ? part.text : ''))
    .join(' ')
}

function envelope({ model, messages }: ChatRequest, object: string) {
  const id = createHash('sha256').update(JSON.stringify(messages)).digest('hex').slice(0, 24)
  return {
    id: `chatcmpl-${id}`,
    object,
    created: Math.floor(Date.now() / 1000),
    model,
    system_fingerprint: 'demo',
  }
}

function usageOf({ messages }: ChatRequest, content: string) {
  const prompt_tokens = messages.reduce((sum, message) => sum + countTokens(contentText(message.content)), 0)
  const completion_tokens = countTokens(content)
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens }
}

/** About four characters per token, as in English text. */
function countTokens(content: string): number {
  return Math.ceil(content.length / 4)
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    // Invalid JSON fails the schema below like any wrong body, with a message for the caller.
    return undefined
  }
}

function failure(status: number, message: string): Answer {
  return { status, body: { error: { message, type: 'invalid_request_error', param: null, code: null } } }
}

function send(response: ServerResponse, { status, body }: Answer): void {
  const bytes = Buffer.from(JSON.stringify(body))
  response
    .writeHead(status, { 'content-type': 'application/json', 'content-length': bytes.length })
    .end(bytes)
}

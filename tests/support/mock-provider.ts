import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { startLocalServer, type LocalServer } from './local-server.ts'

/** A model provider for tests; it is outside the system. Answers every chat completion, streamed or not. */
export interface MockProvider extends LocalServer {
  /** Completions that were answered completely. */
  answered: () => number
}

interface ChatRequest {
  model: string
  stream?: boolean
  stream_options?: { include_usage?: boolean }
  messages: { role: string; content: string }[]
}

export async function startMockProvider(): Promise<MockProvider> {
  let answered = 0
  const server = createServer((request, response) => {
    void answer(request, response).then(() => answered++)
  })
  return { ...(await startLocalServer(server)), answered: () => answered }
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const body = JSON.parse(Buffer.concat(chunks).toString()) as ChatRequest
  const words = [
    'You',
    ' said',
    ' something',
    ' of',
    ` ${body.messages.at(-1)?.content.length ?? 0}`,
    ' characters.',
  ]
  const usage = { prompt_tokens: 12, completion_tokens: words.length, total_tokens: 12 + words.length }
  const common = { id: 'chatcmpl-1', created: 1_790_000_000, model: body.model }
  if (body.stream !== true) {
    const choices = [
      { index: 0, message: { role: 'assistant', content: words.join('') }, finish_reason: 'stop' },
    ]
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ ...common, object: 'chat.completion', choices, usage }))
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const send = (event: object) =>
    response.write(`data: ${JSON.stringify({ ...common, object: 'chat.completion.chunk', ...event })}\n\n`)
  for (const content of words)
    send({ choices: [{ index: 0, delta: { role: 'assistant', content }, finish_reason: null }] })
  send({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })
  if (body.stream_options?.include_usage === true) send({ choices: [], usage })
  response.end('data: [DONE]\n\n')
}

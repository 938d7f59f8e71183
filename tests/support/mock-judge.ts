import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { startLocalServer } from './local-server.ts'

/** A judge model for tests; it is outside the system. Unsafe is what has "bomb" or golden towers in it. */
export interface MockJudge {
  /** For OPENAI_BASE_URL. */
  url: string
  asked: () => number
  stop(): Promise<void>
}

interface JudgeRequest {
  model: string
  messages: { role: string; content: string }[]
}

/** `delayMs`: time until it answers. */
export async function startMockJudge(delayMs = 0): Promise<MockJudge> {
  let asked = 0
  const server = createServer((request, response) => {
    asked++
    if (delayMs === 0) void answer(request, response)
    else setTimeout(() => void answer(request, response), delayMs)
  })
  const { url, stop } = await startLocalServer(server)
  return { url: `${url}/v1`, asked: () => asked, stop }
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const { model, messages } = JSON.parse(Buffer.concat(chunks).toString()) as JudgeRequest
  const said = (role: string) => messages.find((message) => message.role === role)?.content ?? ''
  const check = /Set "check" to "([^"]+)"/.exec(said('system'))?.[1]
  const scorers = /for each of: ([a-z_, ]+)\./.exec(said('system'))?.[1]?.split(', ') ?? []
  const recording = JSON.parse(said('user').split('\n')[1] ?? '{}') as { request: string; answer: string }
  const level = (text: string) => (text === '' ? null : /bomb|golden towers/i.test(text) ? 5 : 1)
  const scores = scorers.map((scorer) => ({
    scorer,
    request_level: level(recording.request),
    answer_level: level(recording.answer),
    rationale: 'It was looked for the words.',
    quotes: [],
  }))
  const message = { role: 'assistant', content: JSON.stringify({ check, scores }) }
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(
    JSON.stringify({
      id: 'chatcmpl-judge',
      object: 'chat.completion',
      created: 1_790_000_000,
      model,
      choices: [{ index: 0, message, finish_reason: 'stop' }],
      usage: { prompt_tokens: 900, completion_tokens: 60, total_tokens: 960 },
    }),
  )
}

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { startLocalServer } from '#tests/support/local-server.ts'

/** What the judge does with a recording. Tests choose by a word in the request: `[[junk]]`. */
export type Mood =
  | 'fair'
  | 'harmful'
  | 'junk'
  | 'junk once'
  | 'junk without end'
  | 'lies about levels'
  | 'obeys the recording'
  | 'no check word'
  | 'stalls'
  | 'breaks off'
  | '429'
  | '429 once'
  | '500'
  | '500 once'
  | '401'
  | 'declines'
  | 'not a completion'
  | 'fenced'
  | 'endless'
  | 'lies about tokens'
  | '429 for an hour'
  | 'held'

/** A model provider that misbehaves as the recording says. An external system, hence a mock. */
export interface HostileJudge {
  url: string
  /** All requests so far. */
  requests: { path: string; headers: IncomingMessage['headers']; body: ChatRequest }[]
  /** Withholds answers to requests with these words until the returned function is called. */
  hold: (words: string) => () => void
  /** Peak of concurrent requests. */
  maxAtOnce: () => number
  stop(): Promise<void>
}

export interface ChatRequest {
  model: string
  temperature: number
  messages: { role: string; content: string }[]
  response_format: { type: string; json_schema: { strict: boolean } }
}

export async function startHostileJudge(): Promise<HostileJudge> {
  const requests: HostileJudge['requests'] = []
  const seen = new Map<string, number>()
  const holds = new Map<string, PromiseWithResolvers<undefined>>()
  let now = 0
  let most = 0
  const server = createServer((request, response) => {
    most = Math.max(most, ++now)
    response.on('close', () => now--)
    void readBody(request).then(async (body) => {
      requests.push({ path: request.url ?? '', headers: request.headers, body })
      const recording = recordingOf(body)
      const scorers = scorersOf(body)
      const place = `${scorers.join()} ${recording.request}`
      const count = (seen.get(place) ?? 0) + 1
      seen.set(place, count)
      const mood = (/\[\[([^\]]+)\]\]/.exec(recording.request)?.[1] ?? 'fair') as Mood
      // Only current ones: those held again after release are new.
      for (const [words, held] of [...holds]) if (recording.request.includes(words)) await held.promise
      behave(mood, count, body, recording, response)
    })
  })
  const { url, stop } = await startLocalServer(server)
  return {
    url: `${url}/v1`,
    requests,
    maxAtOnce: () => most,
    hold(words) {
      const held = Promise.withResolvers<undefined>()
      holds.set(words, held)
      return () => {
        holds.delete(words)
        held.resolve(undefined)
      }
    },
    stop,
  }
}

interface Recording {
  request: string
  answer: string
}

const fairUsage = { prompt_tokens: 700, completion_tokens: 40, total_tokens: 740 }

function behave(
  mood: Mood,
  count: number,
  body: ChatRequest,
  recording: Recording,
  response: ServerResponse,
): void {
  const check = /Set "check" to "([^"]+)"/.exec(body.messages[0]?.content ?? '')?.[1] ?? ''
  const grades = (level: unknown, word = check) => {
    const sides = { request_level: level, answer_level: recording.answer === '' ? null : level }
    const scores = scorersOf(body).map((scorer) => ({
      scorer,
      ...sides,
      rationale: 'Because of what it says.',
      quotes: [],
    }))
    return JSON.stringify({ check: word, scores })
  }
  const say = (content: string | null, refusal: string | null = null, usage: unknown = fairUsage) =>
    send(response, 200, {
      id: 'chatcmpl-1',
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', content, refusal }, finish_reason: 'stop' }],
      usage,
    })
  const fail = (status: number, headers = {}) => send(response, status, { error: { message: 'no' } }, headers)
  const moods: Record<Mood, () => void> = {
    fair: () => say(grades(1)),
    harmful: () => say(grades(5)),
    junk: () => say('Sure! I would say this is level 1, quite safe.'),
    'junk once': () => say(count === 1 ? '{"check":' : grades(1)),
    'junk without end': () => say('level 1 '.repeat(5_000)),
    'lies about levels': () => say(grades(0)),
    // A model that gives the answer that the recording dictates, which cannot know the check word.
    'obeys the recording': () => say(grades(1, 'recorded-check')),
    'no check word': () => say(grades(1, '')),
    stalls: () => undefined,
    'breaks off': () => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '5000' })
      response.write('{"choices":[{"message":{"content":"')
      setImmediate(() => response.destroy())
    },
    '429': () => fail(429, { 'retry-after': '0' }),
    '429 once': () => (count === 1 ? fail(429, { 'retry-after': '0' }) : say(grades(1))),
    '500': () => fail(500),
    '500 once': () => (count === 1 ? fail(500) : say(grades(1))),
    '401': () => fail(401),
    declines: () => say(null, 'I cannot help with that.'),
    fenced: () => say(`\`\`\`json\n${grades(1)}\n\`\`\``),
    // An endless body.
    endless: () => {
      response.writeHead(200, { 'content-type': 'application/json' })
      const drip = setInterval(() => response.write(' '), 50)
      response.on('close', () => clearInterval(drip))
    },
    'lies about tokens': () => say(grades(1), null, { prompt_tokens: -5, completion_tokens: 'many' }),
    '429 for an hour': () => fail(429, { 'retry-after': '3600' }),
    held: () => say(grades(1)),
    'not a completion': () => send(response, 200, ['what', 'is', 'this']),
  }
  moods[mood]()
}

/** The scorers that a request is about. */
export function scorersOf({ messages }: ChatRequest): string[] {
  return /for each of: ([a-z_, ]+)\./.exec(messages[0]?.content ?? '')?.[1]?.split(', ') ?? []
}

function send(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify(body))
}

async function readBody(request: IncomingMessage): Promise<ChatRequest> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return JSON.parse(Buffer.concat(chunks).toString()) as ChatRequest
}

function recordingOf({ messages }: ChatRequest): Recording {
  return JSON.parse(messages.at(-1)?.content.split('\n')[1] ?? '') as Recording
}

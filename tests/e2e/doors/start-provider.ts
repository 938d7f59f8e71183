import { createServer, type ServerResponse } from 'node:http'
import { fieldAt, textOf } from '#capture/json.ts'
import { startLocalServer, type LocalServer } from '../../support/local-server.ts'
import { candidates } from './answers/candidates.ts'
import { chat } from './answers/chat.ts'
import { cohere } from './answers/cohere.ts'
import { converse } from './answers/converse.ts'
import { messages } from './answers/messages.ts'
import { conversations, problem } from './conversations.ts'
import type { Protocol } from './protocol.ts'

export const protocols = { chat, messages, candidates, cohere, converse } as const satisfies Record<
  string,
  Protocol
>

/** A model provider of all protocols; it is outside the system. */
export async function startProvider(): Promise<LocalServer> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { pathname } = new URL(request.url ?? '/', 'http://localhost')
      answer(response, decodeURIComponent(pathname), Buffer.concat(chunks).toString())
    })
  })
  return startLocalServer(server)
}

function answer(response: ServerResponse, path: string, text: string): void {
  const conversation = conversations.find(({ name }) => text.includes(`"${name}: `))
  const protocol = Object.values<Protocol>(protocols).find((one) => one.isAt(path))
  if (conversation === undefined || protocol === undefined) {
    response.writeHead(404).end()
    return
  }
  const { status } = conversation.answer
  if (status !== undefined) {
    const body = JSON.stringify({ error: { message: problem, type: 'x' }, message: problem })
    response.writeHead(status, { 'content-type': 'application/json' }).end(body)
    return
  }
  const body: unknown = JSON.parse(text)
  const { whole, events } = protocol.answer(conversation, {
    model: textOf(fieldAt(body, 'model')) ?? /\/models\/([^:]+):/.exec(path)?.[1] ?? '',
    choices: Number(fieldAt(body, 'n') ?? 1),
    hasUsage: fieldAt(body, 'stream_options', 'include_usage') === true,
  })
  if (conversation.isStream === true) sendStream(response, events)
  else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(whole))
}

function sendStream(response: ServerResponse, events: readonly (object | Buffer | string)[]): void {
  const isBinary = Buffer.isBuffer(events[0])
  const type = isBinary ? 'application/vnd.amazon.eventstream' : 'text/event-stream'
  response.writeHead(200, { 'content-type': type })
  for (const event of events) response.write(Buffer.isBuffer(event) ? event : eventText(event))
  response.end()
}

function eventText(event: object | string): string {
  if (typeof event === 'string') return `data: ${event}\n\n`
  const type = textOf(fieldAt(event, 'type'))
  return `${type === undefined ? '' : `event: ${type}\n`}data: ${JSON.stringify(event)}\n\n`
}

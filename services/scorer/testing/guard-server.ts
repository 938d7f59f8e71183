import { createServer, type IncomingMessage } from 'node:http'
import { startLocalServer } from '#tests/support/local-server.ts'

/**
 * A server of a guard model, an external system. It answers as the judged message says: `[[unsafe / S1]]`,
 * with a slash for a line break.
 */
export interface GuardServer {
  url: string
  requests: { headers: IncomingMessage['headers']; body: GuardRequest }[]
  stop(): Promise<void>
}

export interface GuardRequest {
  model: string
  messages: { role: string; content: string }[]
}

const usage = { prompt_tokens: 300, completion_tokens: 10, total_tokens: 310 }

/** `fallback`: the answer about a message that asks for none. `[[503]]` fails. */
export async function startGuardServer(fallback: (body: GuardRequest) => string): Promise<GuardServer> {
  const requests: GuardServer['requests'] = []
  const server = createServer((request, response) => {
    void readBody(request).then((body) => {
      requests.push({ headers: request.headers, body })
      const wanted = /\[\[([^\]]+)\]\]/.exec(body.messages.at(-1)?.content ?? '')?.[1]
      if (wanted === '503') return void response.writeHead(503).end()
      const message = { role: 'assistant', content: wanted?.replaceAll(' / ', '\n') ?? fallback(body) }
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(
        JSON.stringify({ id: 'x', choices: [{ index: 0, message, finish_reason: 'stop' }], usage }),
      )
    })
  })
  const { url, stop } = await startLocalServer(server)
  return { url: `${url}/v1`, requests, stop }
}

async function readBody(request: IncomingMessage): Promise<GuardRequest> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return JSON.parse(Buffer.concat(chunks).toString()) as GuardRequest
}

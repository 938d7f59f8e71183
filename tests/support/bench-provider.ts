import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { listen } from '#runtime/operations-server.ts'
import { serveOrders } from './bench-process.ts'

/**
 * The model provider of benchmarks. Answers with the given text or 2 kB, or streams 40 chunks, each in its
 * own turn of the event loop or `X-Chunk-Pause` milliseconds after the previous one. HTTPS if a file with key
 * and certificate is given.
 */
const chunkCount = 40
const common = { id: 'chatcmpl-1', created: 1_790_000_000, model: 'gpt-4o-mini' }
const usage = { prompt_tokens: 300, completion_tokens: 350, total_tokens: 650 }
const content = process.argv[2] || 'words '.repeat(300)
const answer = Buffer.from(
  JSON.stringify({
    ...common,
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage,
  }),
)
const chunks = Array.from({ length: chunkCount }, (_, index) => {
  const last = index === chunkCount - 1
  const choices = [{ index: 0, delta: last ? {} : { content: ' word' }, finish_reason: last ? 'stop' : null }]
  const event = { ...common, object: 'chat.completion.chunk', choices, ...(last ? { usage } : {}) }
  return Buffer.from(`data: ${JSON.stringify(event)}\n\n${last ? 'data: [DONE]\n\n' : ''}`)
})

async function stream(response: ServerResponse, pauseMs: number): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const chunk of chunks) {
    response.write(chunk)
    await (pauseMs === 0 ? turn() : sleep(pauseMs))
  }
  response.end()
}

const respond = (request: IncomingMessage, response: ServerResponse) => {
  let streams = false
  request.on('data', (chunk: Buffer) => {
    streams ||= chunk.includes('"stream":true')
  })
  request.on('end', () => {
    if (streams) void stream(response, Number(request.headers['x-chunk-pause'] ?? 0))
    else
      response
        .writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length })
        .end(answer)
  })
}
const pemFile = process.argv[3]
const pem = pemFile === undefined ? undefined : readFileSync(pemFile)
const server = pem === undefined ? createServer(respond) : createTlsServer({ key: pem, cert: pem }, respond)
server.keepAliveTimeout = 60_000
await listen(server, 0, '127.0.0.1')
serveOrders(
  `${pem === undefined ? 'http' : 'https'}://127.0.0.1:${(server.address() as AddressInfo).port}`,
  () => null,
)

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'
import type { ReceiverKind, ReceiverOrder, Receipts } from './counting-receiver.ts'

/** The receiver of benchmarks, in its own thread. Started by counting-receiver.ts. */
const port = parentPort
if (port === null) throw new Error('this is a thread of tests/support/counting-receiver.ts')

let hanging = new Set<string>()
let failing = new Set<string>()
const held = new Set<ServerResponse>()
let receipts = emptyReceipts()

const { certificate, answerMs = 0 } = workerData as ReceiverKind
const server = certificate === undefined ? createServer(listen) : createTlsServer(certificate, listen)
// Longer than any sender keeps a connection: the server never closes one during a request.
server.keepAliveTimeout = 60_000
server.on('connection', () => receipts.connections++)
server.listen(0, '127.0.0.1', () => port.postMessage((server.address() as AddressInfo).port))

function listen(request: IncomingMessage, response: ServerResponse): void {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => receive(request, Buffer.concat(chunks), response))
}

function receive(request: IncomingMessage, body: Buffer, response: ServerResponse): void {
  const path = request.url ?? ''
  const { id, created_at: createdAt } = JSON.parse(body.toString('utf8')) as {
    id: string
    created_at: string
  }
  const nowMs = performance.now()
  if (hanging.has(path)) {
    held.add(response)
    response.once('close', () => held.delete(response))
  } else if (failing.has(path)) {
    // Recorded before sending: the sender may read the answer before Node's callback runs.
    receipts.refused.push({ id, receivedAtMs: nowMs, answeredAtMs: performance.now() })
    response.writeHead(503).end()
  } else {
    receipts.count++
    receipts.firstAtMs ??= nowMs
    receipts.lastAtMs = nowMs
    receipts.latenciesMs.push(Date.now() - Date.parse(createdAt))
    if (answerMs === 0) response.writeHead(200).end()
    else setTimeout(() => response.writeHead(200).end(), answerMs * (0.5 + Math.random()))
  }
}

port.on('message', (order: ReceiverOrder) => {
  if (order.kind === 'behave') {
    hanging = new Set(order.hanging)
    failing = new Set(order.failing)
    for (const response of held) response.writeHead(200).end()
    held.clear()
  } else if (order.kind === 'count') port.postMessage(receipts.count)
  else {
    port.postMessage(receipts)
    receipts = emptyReceipts()
  }
})

function emptyReceipts(): Receipts {
  return { count: 0, connections: 0, firstAtMs: null, lastAtMs: null, latenciesMs: [], refused: [] }
}

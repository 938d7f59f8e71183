import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { startLocalServer } from './local-server.ts'

/** One delivery as received. */
export interface ReceivedDelivery {
  /** The event's id from the envelope, the same for all deliveries of the event. */
  id: string
  deliveryId: string
  event: string
  path: string
  /** Whether X-Service-Signature matches the raw bytes; null: the receiver has no secret. */
  verified: boolean | null
  body: Buffer
  envelope: Envelope
  headers: Readonly<Record<string, string>>
  /** On the monotonic clock (performance.now()): request complete, and answer about to be sent. */
  receivedAtMs: number
  answeredAtMs: number | null
}

export interface Envelope {
  event: string
  id: string
  created_at: string
  project_id: string
  data: Record<string, unknown>
}

/**
 * What the receiver does. `hang` never answers, `reset` breaks the connection, `crawl` sends a byte a second.
 */
export type ReceiverBehaviour =
  | {
      kind: 'answer'
      status: number
      headers?: Readonly<Record<string, string>>
      body?: string | Buffer
      delayMs?: number
    }
  | { kind: 'hang' }
  | { kind: 'reset' }
  | { kind: 'crawl'; status: number }

export const accept = { kind: 'answer', status: 200 } as const

export interface WebhookReceiver {
  /** http(s)://127.0.0.1:port/hook */
  url: string
  deliveries: readonly ReceivedDelivery[]
  /** Distinct event ids, in order of first receipt. */
  ids(): string[]
  /**
   * Behaviour from now on. A function is called per request, with the number of earlier ones for its event.
   */
  behave(next: ReceiverBehaviour | ((delivery: ReceivedDelivery, before: number) => ReceiverBehaviour)): void
  /** Secrets to verify signatures with, for all webhooks that use this receiver. */
  trust(...secrets: readonly string[]): void
  /** Resolves when the condition holds; rejects with the deliveries so far after `timeoutMs`. */
  waitFor(condition: (deliveries: readonly ReceivedDelivery[]) => boolean, timeoutMs?: number): Promise<void>
  close(): Promise<void>
}

export interface ReceiverOptions {
  secrets?: readonly string[]
  tls?: { key: string; cert: string }
}

/**
 * A customer's receiver. Verifies and records; answers 401 if verification fails, else as configured (200).
 */
export async function startWebhookReceiver(options: ReceiverOptions = {}): Promise<WebhookReceiver> {
  const deliveries: ReceivedDelivery[] = []
  const waiters = new Set<() => void>()
  let secrets = options.secrets ?? []
  let behaviour: Parameters<WebhookReceiver['behave']>[0] = accept
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const delivery = await receive(request, secrets)
    const before = deliveries.filter(({ id }) => id === delivery.id).length
    deliveries.push(delivery)
    const told = typeof behaviour === 'function' ? behaviour(delivery, before) : behaviour
    respond(response, delivery.verified === false ? { kind: 'answer', status: 401 } : told, delivery)
    for (const waiter of waiters) waiter()
  }
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    // Senders are killed during requests on purpose.
    handle(request, response).catch(() => response.destroy())
  }
  const server =
    options.tls === undefined ? createHttpServer(onRequest) : createHttpsServer(options.tls, onRequest)
  const { url, stop } = await startLocalServer(server)
  return {
    url: `${url}/hook`,
    deliveries,
    ids: () => [...new Set(deliveries.map(({ id }) => id))],
    behave: (next) => (behaviour = next),
    trust: (...known) => (secrets = known),
    waitFor: (condition, timeoutMs = 180_000) => waitFor({ deliveries, waiters }, condition, timeoutMs),
    close: stop,
  }
}

async function receive(request: IncomingMessage, secrets: readonly string[]): Promise<ReceivedDelivery> {
  const chunks: Buffer[] = []
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  const body = Buffer.concat(chunks)
  const headers = request.headers as Record<string, string>
  const signature = headers['x-service-signature'] ?? ''
  const envelope = JSON.parse(body.toString('utf8')) as Envelope
  return {
    id: envelope.id,
    deliveryId: headers['x-service-delivery'] ?? '',
    event: envelope.event,
    path: request.url ?? '',
    verified: secrets.length === 0 ? null : secrets.some((secret) => isSignedWith(secret, body, signature)),
    body,
    envelope,
    headers,
    receivedAtMs: performance.now(),
    answeredAtMs: null,
  }
}

function isSignedWith(secret: string, body: Buffer, signature: string): boolean {
  const expected = Buffer.from(`sha256=${createHmac('sha256', secret).update(body).digest('hex')}`)
  const given = Buffer.from(signature)
  return given.length === expected.length && timingSafeEqual(given, expected)
}

function respond(response: ServerResponse, behaviour: ReceiverBehaviour, delivery: ReceivedDelivery): void {
  switch (behaviour.kind) {
    case 'hang':
      return
    case 'reset':
      response.socket?.resetAndDestroy()
      return
    case 'crawl': {
      response.writeHead(behaviour.status)
      const timer = setInterval(() => response.write('.'), 1_000)
      response.once('close', () => clearInterval(timer))
      response.write('.')
      return
    }
    case 'answer': {
      const answer = () => {
        // Recorded before sending: the sender may read the answer before Node's callback runs.
        delivery.answeredAtMs = performance.now()
        response.writeHead(behaviour.status, behaviour.headers).end(behaviour.body ?? '')
      }
      if (behaviour.delayMs === undefined) answer()
      else setTimeout(answer, behaviour.delayMs)
    }
  }
}

function waitFor(
  { deliveries, waiters }: { deliveries: readonly ReceivedDelivery[]; waiters: Set<() => void> },
  condition: (deliveries: readonly ReceivedDelivery[]) => boolean,
  timeoutMs: number,
): Promise<void> {
  if (condition(deliveries)) return Promise.resolve()
  return new Promise((resolve, reject) => {
    const check = () => {
      if (!condition(deliveries)) return
      clearTimeout(timer)
      waiters.delete(check)
      resolve()
    }
    const timer = setTimeout(() => {
      waiters.delete(check)
      const came = deliveries.map(({ id, event }) => `${event} ${id}`).join('\n')
      reject(new Error(`not within ${timeoutMs} ms; ${deliveries.length} deliveries came:\n${came}`))
    }, timeoutMs)
    waiters.add(check)
  })
}

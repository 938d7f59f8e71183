import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What a receiver has had of one delivery. */
export interface Receipt {
  eventId: string
  /** Requests that it answered 200, and all of them. */
  taken: number
  came: number
}

export type ReceiverName = 'steady' | 'failing'

/** Two customers' receivers: one always takes what comes, the other can be told not to. */
export interface Receivers {
  urlOf(name: ReceiverName): string
  /** By the delivery's id. */
  receiptsOf(name: ReceiverName): ReadonlyMap<string, Receipt>
  /** How the second answers from now on: an error, a broken connection, or nothing at all. */
  behave(how: 'well' | 'error' | 'reset' | 'hang'): void
  close(): Promise<void>
}

/** Remembers counts, not bodies: in an hour there are too many. */
export async function startReceivers(): Promise<Receivers> {
  const receipts = { steady: new Map<string, Receipt>(), failing: new Map<string, Receipt>() }
  let behaviour: 'well' | 'error' | 'reset' | 'hang' = 'well'
  const held = new Set<ServerResponse>()
  const receive = async (request: IncomingMessage, response: ServerResponse) => {
    const name: ReceiverName = request.url === '/failing' ? 'failing' : 'steady'
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    const { id: eventId } = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { id: string }
    const deliveryId = String(request.headers['x-service-delivery'])
    const receipt = receipts[name].get(deliveryId) ?? { eventId, taken: 0, came: 0 }
    receipts[name].set(deliveryId, receipt)
    receipt.came++
    const how = name === 'steady' ? 'well' : behaviour
    if (how === 'well') receipt.taken++
    answer(response, how, held)
  }
  const server = createServer((request, response) => {
    // A sender that is killed in mid-request is part of what is tried.
    receive(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    urlOf: (name) => `http://127.0.0.1:${port}/${name}`,
    receiptsOf: (name) => receipts[name],
    behave(how) {
      behaviour = how
      for (const response of held) response.destroy()
      held.clear()
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

function answer(
  response: ServerResponse,
  how: 'well' | 'error' | 'reset' | 'hang',
  held: Set<ServerResponse>,
): void {
  switch (how) {
    case 'well':
      response.writeHead(200).end()
      return
    case 'error':
      response.writeHead(503).end()
      return
    case 'reset':
      response.socket?.resetAndDestroy()
      return
    case 'hang':
      held.add(response)
      response.once('close', () => held.delete(response))
  }
}

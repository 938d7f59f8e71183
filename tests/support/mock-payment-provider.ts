import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { startLocalServer, type LocalServer } from './local-server.ts'

/** A local payment provider that records our calls; it is outside the system. */
export interface MockPaymentProvider extends LocalServer {
  /** Every POST, with its form. */
  asked: { path: string; form: Record<string, string>; authorization: string }[]
  /** Answers of GET /v1/subscriptions, by identifier or by customer. */
  subscriptions: Map<string, { customer: string }>
  /** Checkouts, by identifier. */
  checkouts: Map<string, Checkout>
  /** Deleted customers; requests that name one are refused. */
  deletedCustomers: Set<string>
  /** Status of the next answers; null: as usual. */
  failWith(status: number | null): void
}

export interface Checkout {
  status: 'open' | 'complete' | 'expired'
  customer: string | null
}

export async function startMockPaymentProvider(): Promise<MockPaymentProvider> {
  const asked: MockPaymentProvider['asked'] = []
  const subscriptions = new Map<string, { customer: string }>()
  const checkouts: MockPaymentProvider['checkouts'] = new Map()
  const deletedCustomers = new Set<string>()
  let begun = 0
  let failure: number | null = null

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const path = request.url ?? ''
    const form = Object.fromEntries(new URLSearchParams(await text(request)))
    const reply = (status: number, json: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json))
    if (failure !== null)
      return reply(failure, { error: { type: 'invalid_request_error', message: 'No such price' } })
    const url = new URL(path, 'http://provider')
    const customer = form['customer'] ?? url.searchParams.get('customer')
    if (deletedCustomers.has(customer ?? '')) {
      const error = { type: 'invalid_request_error', code: 'resource_missing', param: 'customer' }
      return reply(400, { error: { ...error, message: 'No such customer' } })
    }
    if (request.method === 'GET' && customer !== null) {
      const data = [...subscriptions.values()].filter((each) => each.customer === customer)
      return reply(200, { object: 'list', data, has_more: false })
    }
    const [, checkoutId, end] = /\/checkout\/sessions\/(\w+)(\/expire)?$/.exec(url.pathname) ?? []
    if (checkoutId !== undefined) {
      const checkout = checkouts.get(checkoutId)
      if (checkout === undefined)
        return reply(404, {
          error: { type: 'invalid_request_error', code: 'resource_missing', param: 'session' },
        })
      if (end !== undefined && checkout.status !== 'open')
        return reply(400, {
          error: {
            type: 'invalid_request_error',
            message: 'Only Checkout Sessions with a status in ["open"] can be expired.',
          },
        })
      if (end !== undefined) checkout.status = 'expired'
      return reply(200, { id: checkoutId, object: 'checkout.session', ...checkout })
    }
    if (request.method === 'GET') {
      const found = subscriptions.get(path.split('/').at(-1) ?? '')
      return found === undefined
        ? reply(404, { error: { message: 'no such subscription' } })
        : reply(200, found)
    }
    asked.push({ path, form, authorization: request.headers.authorization ?? '' })
    const place = path.includes('checkout') ? 'checkout' : 'portal'
    const id = place === 'portal' ? 'portal_1' : `checkout_${++begun}`
    if (place === 'checkout') checkouts.set(id, { status: 'open', customer })
    return reply(200, { id, object: 'session', url: `https://pay.example/${place}` })
  }

  const server = createServer((request, response) => {
    void answer(request, response).catch((error: unknown) => response.destroy(error as Error))
  })
  return {
    ...(await startLocalServer(server)),
    asked,
    subscriptions,
    checkouts,
    deletedCustomers,
    failWith: (status) => {
      failure = status
    },
  }
}

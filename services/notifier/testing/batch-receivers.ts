import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

interface Answer {
  status: number
  headers?: Record<string, string>
  body: object
}

/**
 * Splunk's HTTP Event Collector with its documented answers. It is busy (503, code 9) in the middle of its
 * first three requests, and refuses one event (code 6) for ever.
 */
export async function openCollector() {
  const state = { taken: [] as string[], requests: 0, busyAnswers: 0, refused: '' }
  const server = await open((body) => {
    state.requests++
    const ids = [...body.matchAll(/"event":\{"event":"\w+","id":"(evt_\w+)"/g)].map(([, id = '']) => id)
    const busyAt = state.busyAnswers < 3 ? Math.floor(ids.length / 2) : ids.length
    for (const [index, id] of ids.entries()) {
      if (index === busyAt) {
        state.busyAnswers++
        const headers = { 'retry-after': '1' }
        return {
          status: 503,
          headers,
          body: { text: 'Server is busy', code: 9, 'invalid-event-number': index },
        }
      }
      if (id === state.refused)
        return { status: 400, body: { text: 'Invalid data format', code: 6, 'invalid-event-number': index } }
      state.taken.push(id)
    }
    return { status: 200, body: { text: 'Success', code: 0 } }
  })
  return Object.assign(state, server, { refuse: (id: string) => void (state.refused = id) })
}

/** Elasticsearch's bulk API. It refuses every third new event once, with 429. */
export async function openElastic() {
  const refused = new Set<string>()
  const state = { documents: new Map<string, unknown>(), requests: 0, busyItems: 0, repeated: 0 }
  let seen = 0
  const server = await open((body) => {
    state.requests++
    const lines = body
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
    const items = lines.flatMap((line, index) => {
      if (index % 2 === 1) return []
      const { _id: id } = line['create'] as { _id: string }
      if (!refused.has(id) && ++seen % 3 === 0) {
        refused.add(id)
        state.busyItems++
        return [{ create: { _id: id, status: 429, error: { type: 'es_rejected_execution_exception' } } }]
      }
      if (state.documents.has(id)) state.repeated++
      state.documents.set(id, lines[index + 1])
      return [{ create: { _id: id, status: 201 } }]
    })
    return { status: 200, body: { errors: true, items } }
  })
  return Object.assign(state, server)
}

async function open(answer: (body: string) => Answer) {
  const server: Server = createServer((request, response) => {
    void text(request).then((body) => {
      const { status, headers, body: said } = answer(body)
      response.writeHead(status, { 'content-type': 'application/json', ...headers })
      response.end(JSON.stringify(said))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = () => new Promise<void>((resolve) => void server.close(() => resolve()))
  return { port: (server.address() as AddressInfo).port, close }
}

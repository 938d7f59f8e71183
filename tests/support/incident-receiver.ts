import { once } from 'node:events'
import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'

/** An event of the Events API v2. */
interface IncidentEvent {
  routing_key: string
  event_action: 'trigger' | 'acknowledge' | 'resolve'
  dedup_key: string
  payload: { summary: string; source: string; severity: string }
}

export interface Incidents {
  url: string
  /** Accepted, in order. */
  events: IncidentEvent[]
  /** Why events were refused with 400: a missing field, or out of order. */
  refusals: string[]
  /** `triggered`, `acknowledged` or `resolved`; undefined: no event had that key. */
  stateOf(dedupKey: string): string | undefined
  /** Answers 500 to as many requests. */
  refuseNext(count: number): void
  close(): Promise<void>
}

const states = { trigger: 'triggered', acknowledge: 'acknowledged', resolve: 'resolved' } as const

/** The Events API v2 of an incident system, stricter: an event without an open incident is refused. */
export async function startIncidents(port: number): Promise<Incidents> {
  const events: IncidentEvent[] = []
  const refusals: string[] = []
  const open = new Map<string, string>()
  let failures = 0
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      const event = body as IncidentEvent
      const problem = problemOf(event, open.get(event.dedup_key))
      if (failures > 0) {
        failures--
        response.writeHead(500).end()
      } else if (problem === undefined) {
        events.push(event)
        open.set(event.dedup_key, states[event.event_action])
        response.writeHead(202, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ status: 'success', dedup_key: event.dedup_key }))
      } else {
        refusals.push(problem)
        response.writeHead(400, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ status: 'invalid event', errors: [problem] }))
      }
    })
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${port}/v2/enqueue`,
    ...{ events, refusals },
    stateOf: (key) => open.get(key),
    refuseNext: (count) => void (failures = count),
    close: () => new Promise<void>((resolve) => void server.close(() => resolve())),
  }
}

function problemOf(event: IncidentEvent, state: string | undefined): string | undefined {
  const { routing_key: key, event_action: action, dedup_key: dedup, payload } = event
  if (!/^[A-Za-z0-9]{32}$/.test(key) || !(action in states) || dedup === '' || dedup.length > 255)
    return `not an event: ${JSON.stringify(event)}`
  if (
    !payload.summary ||
    !payload.source ||
    !['critical', 'error', 'warning', 'info'].includes(payload.severity)
  )
    return `its payload lacks a field: ${JSON.stringify(payload)}`
  const isOpen = state !== undefined && state !== 'resolved'
  return action !== 'trigger' && !isOpen ? `${action} of ${dedup}, which is ${state ?? 'unknown'}` : undefined
}

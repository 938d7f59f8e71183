import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import { freePorts } from '#infra/embedded/free-port.ts'
import { startIncidents, type Incidents } from '../support/incident-receiver.ts'
import { startMockProvider, type MockProvider } from '../support/mock-provider.ts'
import { startStack, type Stack } from '../support/start-stack.ts'
import { until } from '../support/until.ts'

jest.setTimeout(300_000)

let provider: MockProvider
let incidents: Incidents
let stack: Stack

beforeAll(async () => {
  const [port] = (await freePorts(1)) as [number]
  incidents = await startIncidents(port)
  provider = await startMockProvider()
  stack = await startStack({
    upstreamUrl: provider.url,
    insecureWebhookHosts: '',
    environment: { DESTINATION_ALLOW: `plain:127.0.0.1:${port}` },
  })
})

afterAll(async () => {
  await stack.stop()
  await provider.stop()
  await incidents.close()
})

async function call(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
  const answer = await fetch(stack.apiUrl + path, {
    method,
    headers: { 'x-service-key': stack.apiKey, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
  return JSON.parse(text) as Record<string, unknown>
}

const logUnsafeCall = () =>
  call('POST', '/internal/log', {
    agent_name: 'support',
    request_body: { messages: [{ role: 'user', content: 'My card is 4111 1111 1111 1111.' }] },
    response_body: { choices: [{ message: { content: 'Thank you.' } }] },
  })

test('a call becomes an incident that is acknowledged and resolved with its finding', async () => {
  const routingKey = 'R'.repeat(32)
  await call('POST', '/api/v1/destinations', {
    kind: 'pagerduty',
    settings: { url: incidents.url },
    credentials: { routing_key: routingKey },
  })
  // One of several calls of one kind opens the finding. The receiver is away for its first events.
  incidents.refuseNext(2)
  for (let index = 0; index < 3; index++) await logUnsafeCall()
  const findingId = await openFinding()
  await stateOf(findingId, 'triggered')
  await call('PATCH', `/api/findings/${findingId}`, { state: 'acknowledged', author: 'ana' })
  await stateOf(findingId, 'acknowledged')
  await call('PATCH', `/api/findings/${findingId}`, { state: 'resolved', author: 'ana' })
  await stateOf(findingId, 'resolved')

  // Each accepted once, under one key, in order. The receiver refuses what is out of order.
  const { events, refusals } = incidents
  expect(refusals).toEqual([])
  expect(events.filter(({ dedup_key: key }) => key === findingId).map((event) => event.event_action)).toEqual(
    ['trigger', 'acknowledge', 'resolve'],
  )
  expect(new Set(events.map(({ routing_key: key }) => key))).toEqual(new Set([routingKey]))
  expect(JSON.stringify(events)).not.toContain('4111')

  // It comes again: the finding reopens, and with it the incident.
  await logUnsafeCall()
  await stateOf(findingId, 'triggered')
})

async function openFinding(): Promise<string> {
  const read = async () => {
    const { items } = (await call('GET', '/api/findings?scorer_name=pii_detection')) as {
      items: { id: string }[]
    }
    return items
  }
  await until(async () => (await read()).length > 0, 120_000)
  return (await read())[0]?.id ?? ''
}

async function stateOf(key: string, state: string): Promise<void> {
  await until(
    () => incidents.stateOf(key) === state,
    120_000,
    () => JSON.stringify([incidents.events, incidents.refusals]),
  )
}

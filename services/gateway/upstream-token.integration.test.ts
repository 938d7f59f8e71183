import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { listen } from '#runtime/operations-server.ts'
import { chatPath, idOf, useGateway } from '#tests/support/gateway-fixture.ts'
import { sized } from '#tests/support/raw-upstream.ts'
import type { RunningGateway } from '#tests/support/start-gateway.ts'

const world = useGateway()
let identity: Server
let forms: string[]
let status: number
let gateway: RunningGateway

beforeEach(async () => {
  forms = []
  status = 200
  identity = createServer((request, response) => {
    request.on('data', (form: Buffer) => forms.push(form.toString()))
    request.on('end', () => {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(
        JSON.stringify({ access_token: `t${forms.length}`, token_type: 'Bearer', expires_in: 3_600 }),
      )
    })
  })
  await listen(identity, 0, '127.0.0.1')
  gateway = await world.startAnother({
    UPSTREAM_AUTH: 'client_credentials',
    UPSTREAM_TOKEN_URL: `http://127.0.0.1:${(identity.address() as AddressInfo).port}/token`,
    UPSTREAM_CLIENT_ID: 'me',
    UPSTREAM_CLIENT_SECRET: 's&cret',
    UPSTREAM_TOKEN_SCOPE: 'models',
  })
})
afterEach(async () => {
  await gateway.stop()
  identity.closeAllConnections()
  await new Promise((resolve) => identity.close(resolve))
})

test("one token serves calls at once, in place of the application's key and of a static one", async () => {
  const call = () => world.post(chatPath, { headers: { 'api-key': 'old' } }, gateway)
  const answers = await Promise.all(Array.from({ length: 20 }, call))
  expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]))
  expect(forms).toEqual(['grant_type=client_credentials&client_id=me&client_secret=s%26cret&scope=models'])
  for (const { lines } of world.upstream.requests) {
    expect(lines.filter((line) => /^(authorization|api-key):/i.test(line))).toEqual([
      'Authorization: Bearer t1',
    ])
  }
})

const refusal = sized('401 Unauthorized', ['Content-Type: application/json'], '{"error":"no"}')
const welcome = sized('200 OK', ['Content-Type: application/json'], '{"ok":true}')

test('a refused token is replaced and the calls are made once more; the applications see only the second answer', async () => {
  world.upstream.answer((socket, request) =>
    (request.lines.includes('Authorization: Bearer t1') ? refusal : welcome)(socket, request),
  )
  const answers = await Promise.all(Array.from({ length: 10 }, () => world.post(chatPath, {}, gateway)))
  for (const answer of answers) {
    expect([answer.status, await answer.text()]).toEqual([200, '{"ok":true}'])
    expect(await world.recordOf(idOf(answer))).toMatchObject({
      status_code: 200,
      response_body: { ok: true },
    })
  }
  expect(forms).toHaveLength(2)
})

test('a refused token is replaced for the next call, where this one has a body that has passed', async () => {
  world.upstream.answer((socket, request) =>
    (request.lines.includes('Authorization: Bearer t1') ? refusal : welcome)(socket, request),
  )
  const upload = () => world.post(chatPath, { body: new Blob(['{}']).stream(), duplex: 'half' }, gateway)
  expect((await upload()).status).toBe(401)
  expect((await upload()).status).toBe(200)
})

test('a provider that refuses the next token too is believed: its 401 passes', async () => {
  world.upstream.answer(refusal)
  for (const requests of [2, 3]) {
    const answer = await world.post(chatPath, {}, gateway)
    expect([answer.status, await answer.text()]).toEqual([401, '{"error":"no"}'])
    expect(world.upstream.requests).toHaveLength(requests)
  }
  expect(forms).toHaveLength(2)
})

test('without a token the application is told so, and the call is recorded', async () => {
  status = 500
  const answer = await world.post(chatPath, {}, gateway)
  expect(answer.status).toBe(502)
  expect(await answer.json()).toMatchObject({ error: { code: 'upstream_token_unavailable' } })
  expect(world.upstream.requests).toHaveLength(0)
  expect(await world.recordOf(idOf(answer))).toMatchObject({
    status_code: 502,
    request_body: expect.objectContaining({ model: 'm' }),
  })
})

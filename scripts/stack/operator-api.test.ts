import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { retryRequest, callApi, type OperatorApi } from './operator-api.ts'

let server: Server
let api: OperatorApi
/** The next answers; the last one repeats. */
let answers: [number, string][]
let lastPath: string | undefined

beforeEach(async () => {
  server = createServer((request, response) => {
    lastPath = request.url
    const [status, text] = (answers.length > 1 ? answers.shift() : answers[0]) ?? [500, '']
    response.writeHead(status, { connection: 'close' }).end(text)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  api = { baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, secret: 's' }
})
afterEach(() => new Promise((resolve) => server.close(resolve)))

const page = '<html><body>Bad Gateway</body></html>'

test('what the operator can mend is one line: nobody there, a page of somebody else, a refusal', async () => {
  answers = [[502, page]]
  const { origin } = new URL(api.baseUrl)
  const told = (message: string) => ({ name: 'CannotStart', message })
  await expect(callApi(api, 'GET', '/x')).rejects.toMatchObject(
    told(`${origin} answered 502 and no JSON: is that the API's address?`),
  )
  answers = [[403, '{"code": "FORBIDDEN", "detail": "not yours"}']]
  await expect(callApi(api, 'GET', '/x')).rejects.toMatchObject(told('FORBIDDEN: not yours'))
  const nobody = { ...api, baseUrl: 'http://user:hidden@127.0.0.1:1' }
  await expect(callApi(nobody, 'GET', '/x')).rejects.toMatchObject(
    told('the API at http://127.0.0.1:1 does not answer: the request cannot be made'),
  )
  await new Promise((resolve) => server.close(resolve))
  await expect(callApi(api, 'GET', '/x')).rejects.toMatchObject({
    name: 'CannotStart',
    message: expect.stringMatching(/^the API at \S+ does not answer: connect ECONNREFUSED/),
  })
})

test('who waits asks again while the API is away, and not when it refuses', async () => {
  answers = [
    [502, page],
    [200, '{"status": "erased"}'],
  ]
  await expect(retryRequest(api, '/x')).resolves.toEqual({ status: 'erased' })
  answers = [
    [404, '{"code": "NOT_FOUND", "detail": "none"}'],
    [200, '{}'],
  ]
  await expect(retryRequest(api, '/x')).rejects.toThrow('NOT_FOUND: none')
})

test('an API that stands behind a path is asked there', async () => {
  answers = [[200, '{}']]
  await callApi({ ...api, baseUrl: `${api.baseUrl}/sluice` }, 'GET', '/api/projects?page=1')
  expect(lastPath).toBe('/sluice/api/projects?page=1')
})

import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { expect, test } from '@jest/globals'
import { fetchRegistry, registryAddress } from './registry-address.ts'

test.each([
  ['http://registry:8081', { host: 'http://registry:8081' }],
  ['https://registry/apis/ccompat/v7/', { host: 'https://registry/apis/ccompat/v7' }],
  [
    'http://u%40x:p%3Aw@registry:8081/',
    { host: 'http://registry:8081', auth: { username: 'u@x', password: 'p:w' } },
  ],
])('%s', (url, expected) => expect(registryAddress(url)).toEqual(expected))

test('credentials go to the registry in a header, and are in no error', async () => {
  const server = createServer((request, response) => {
    response.end(
      `${request.url ?? ''} ${request.headers.authorization ?? ''} ${String(request.headers['content-type'])}`,
    )
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const url = `http://user:p%3Aw@127.0.0.1:${(server.address() as AddressInfo).port}/v7/`
  const answer = await fetchRegistry(url, '/subjects', { headers: { 'content-type': 'a/b' } })
  expect(await answer.text()).toBe(`/v7/subjects Basic ${Buffer.from('user:p:w').toString('base64')} a/b`)
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  const error: unknown = await fetchRegistry(url, '/subjects', {}).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ message: 'fetch failed' })
})

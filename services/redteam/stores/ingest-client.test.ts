import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from '@jest/globals'
import { createIngestClient } from './ingest-client.ts'

test('an API that stands behind a path is asked there', async () => {
  const paths: (string | undefined)[] = []
  const server = createServer((request, response) => {
    paths.push(request.url)
    request.resume().on('end', () => response.end('{"results": [{"id": "req_1", "status": "queued"}]}'))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const client = createIngestClient({
    baseUrl: `http://127.0.0.1:${port}/sluice`,
    secret: 's',
    timeoutMs: 10_000,
  })
  try {
    expect(await client.log([{}])).toEqual([null])
    expect(paths).toEqual(['/sluice/internal/log/batch'])
  } finally {
    await client.close()
    await new Promise((resolve) => server.close(resolve))
  }
})

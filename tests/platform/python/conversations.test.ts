import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { createClient } from '../../../sdk/typescript/create-client.ts'
import { startLocalServer } from '../../support/local-server.ts'
import { startRecordReceiver, type PostedRecord } from '../../support/record-receiver.ts'
import { root } from '../platform-part.ts'
import { conversations } from './conversations.ts'

/** What the Python SDK's tests compare its records with. */
const fixture = join(root, 'sdk', 'python', 'tests', 'conversations.json')
const times = new Set(['id', 'latency_ms', 'time_to_first_token_ms'])

/** The conversations, each with its record by this SDK. */
async function recorded(): Promise<object[]> {
  const receiver = await startRecordReceiver()
  const provider = await startLocalServer(
    createServer((request, response) => {
      const { status, contentType, chunks } = conversations[Number(request.headers['x-conversation'])] ?? {}
      request.resume().on('end', () => {
        response.writeHead(status ?? 500, { 'content-type': contentType ?? '' })
        for (const chunk of chunks ?? []) response.write(chunk)
        response.end()
      })
    }),
  )
  const sluice = createClient({ apiKey: 'svc_test', baseUrl: receiver.url, agentName: 'tester' })
  const client = sluice.wrap({
    baseURL: provider.url,
    fetch: (input: string, init: RequestInit) => fetch(input, init),
  })
  try {
    const found: object[] = []
    for (const [at, conversation] of conversations.entries()) {
      const { path, request } = conversation
      const body = typeof request === 'string' ? request : JSON.stringify(request)
      const headers = { 'content-type': 'application/json', 'x-conversation': String(at) }
      await (await client.fetch(provider.url + path, { method: 'POST', body, headers })).text()
      if (!(await sluice.flush(30_000))) throw new Error('the record could not be sent')
      const record: PostedRecord = receiver.taken[at] ?? { id: '' }
      const fields = Object.entries(record).filter(([name]) => !times.has(name))
      const hasFirstToken = record['time_to_first_token_ms'] !== undefined
      found.push({ ...conversation, request: body, record: Object.fromEntries(fields), hasFirstToken })
    }
    return found
  } finally {
    await sluice.shutdown()
    await Promise.all([provider.stop(), receiver.stop()])
  }
}

test("the records that Python's SDK is compared with are this SDK's", async () => {
  const made = `${JSON.stringify(await recorded(), null, 1)}\n`
  if (process.env['UPDATE_DOCS'] === '1') await writeFile(fixture, made)
  // UPDATE_DOCS=1 writes them.
  expect(await readFile(fixture, 'utf8')).toBe(made)
})

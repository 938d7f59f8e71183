import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { z } from 'zod'
import { startRecordReceiver, type RecordReceiver } from '../../tests/support/record-receiver.ts'
import { createClient } from './create-client.ts'

let receiver: RecordReceiver
const client = new Client({ name: 'test', version: '1' })
const server = new McpServer({ name: 'tools', version: '1' })

beforeAll(async () => {
  receiver = await startRecordReceiver()
  const inputSchema = { text: z.string() }
  server.registerTool('echo', { inputSchema }, ({ text }) => ({ content: [{ type: 'text', text }] }))
  server.registerTool('fail', { inputSchema }, () => {
    throw new Error('the tool broke')
  })
  server.registerTool('sleep', { inputSchema }, () => new Promise(() => undefined))
  const [ours, theirs] = InMemoryTransport.createLinkedPair()
  await Promise.all([client.connect(ours), server.connect(theirs)])
})
afterAll(async () => {
  await client.close()
  await receiver.stop()
})

test('calls of tools are recorded as they went: answered, failed, refused, timed out', async () => {
  const sluice = createClient({ apiKey: 'svc_test', baseUrl: receiver.url, agentName: 'tester' })
  const wrapped = sluice.wrap(client)
  expect(wrapped).toBe(client)
  const call = (name: string, given: Record<string, unknown> = { text: 'hi' }) =>
    wrapped.callTool({ name, arguments: given })
  expect(await call('echo')).toEqual({ content: [{ type: 'text', text: 'hi' }] })
  expect(await call('fail')).toMatchObject({ isError: true })
  const late = wrapped.callTool({ name: 'sleep', arguments: { text: '' } }, undefined, { timeout: 50 })
  await expect(late).rejects.toThrow(/timed out/i)
  await sluice.shutdown(30_000)
  expect(receiver.taken).toMatchObject([
    {
      source: 'mcp',
      agent_name: 'tester',
      request_body: { type: 'mcp_tool_call', tool_name: 'echo', arguments: { text: 'hi' } },
      response_body: { content: [{ text: 'hi' }] },
    },
    { error: expect.stringContaining('the tool broke'), request_body: { tool_name: 'fail' } },
    { error: expect.stringMatching(/timed out/i), request_body: { tool_name: 'sleep' } },
  ])
})

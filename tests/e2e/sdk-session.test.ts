import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import OpenAI from 'openai'
import pg from 'pg'
import { createClient } from '../../sdk/typescript/index.ts'
import { readLedger } from '../support/pipeline-ledger.ts'
import { startMockProvider, type MockProvider } from '../support/mock-provider.ts'
import { programEnvironment } from '../support/program-environment.ts'
import { realPrompts } from '../support/real-prompts.ts'
import { startStack, type Stack } from '../support/start-stack.ts'
import { until } from '../support/until.ts'

/** An application with the SDK, and everything behind it. */
let provider: MockProvider
let stack: Stack

beforeAll(async () => {
  provider = await startMockProvider()
  stack = await startStack({ upstreamUrl: provider.url, insecureWebhookHosts: '' })
})
afterAll(async () => {
  await stack.stop()
  await provider.stop()
})

test('every call of a wrapped client is stored once under its captured id, directly and through the gateway', async () => {
  const captured: string[] = []
  const direct = createClient({
    apiKey: stack.apiKey,
    baseUrl: stack.apiUrl,
    beforeSend(record) {
      captured.push(record.id)
      return record
    },
  })
  const gateway = createClient({
    apiKey: stack.apiKey,
    baseUrl: stack.apiUrl,
    proxyUrl: stack.gatewayUrl,
    proxyApiKey: stack.proxyApiKey,
  })
  const options = { apiKey: 'k', baseURL: `${provider.url}/v1`, maxRetries: 0 }
  const clients = [direct.wrap(new OpenAI(options)), gateway.wrap(new OpenAI(options))] as const
  const prompts = realPrompts(120)
  await Promise.all(
    prompts.map((prompt, index) => ask(clients[index % 3 === 0 ? 1 : 0], prompt, index % 2 === 0)),
  )
  expect(await direct.flush(60_000)).toBe(true)
  expect(captured).toHaveLength(80)
  const stored = async () => (await readLedger(stack.databaseUrl)).stored
  await until(async () => (await stored()).length >= prompts.length)
  const ids = await stored()
  expect(ids).toHaveLength(prompts.length)
  expect(ids).toEqual(expect.arrayContaining(captured))
  await direct.shutdown(30_000)
})

test("the example's agent: model and tool calls are in one session, in order, with scores; its tool is new", async () => {
  const agent = join(import.meta.dirname, '..', '..', 'sdk', 'typescript', 'examples', 'agent.ts')
  await promisify(execFile)(process.execPath, [agent, 'session-1'], {
    env: {
      ...programEnvironment(),
      SERVICE_API_KEY: stack.apiKey,
      SERVICE_BASE_URL: stack.apiUrl,
      OPENAI_API_KEY: 'k',
      OPENAI_BASE_URL: `${provider.url}/v1`,
    },
  })
  await until(async () => (await calls()).length === 4 && (await calls()).every(isScored))
  const found = await calls()
  expect(found.map(({ tool_name }) => tool_name)).toEqual([null, 'read_level', 'read_level', null])
  expect(found.map(({ error }) => error === null)).toEqual([true, true, false, true])
  expect(found.every(({ agent_name }) => agent_name === 'gate-keeper')).toBe(true)
  expect(await get('/api/tools')).toMatchObject({
    items: [{ tool_name: 'read_level', calls: 2, failed: 1, agents: ['gate-keeper'] }],
  })
  expect(await newTools()).toEqual(['read_level'])
})

interface Call {
  tool_name: string | null
  error: string | null
  agent_name: string
  safety_scores: unknown[]
}

/** Tools reported by `new_tool_detected`. */
async function newTools(): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: stack.databaseUrl })
  await client.connect()
  try {
    const { rows } = await client.query<{ data: Buffer }>(
      `select data from event_outbox where event = 'new_tool_detected'`,
    )
    return rows.map(({ data }) => (JSON.parse(data.toString()) as { tool_name: unknown }).tool_name)
  } finally {
    await client.end()
  }
}

const calls = async () => ((await get('/api/sessions/session-1')) as { items: Call[] }).items
const isScored = ({ safety_scores: scores }: Call) => scores.length > 0

async function get(path: string): Promise<unknown> {
  const response = await fetch(stack.apiUrl + path, { headers: { 'x-service-key': stack.apiKey } })
  if (response.status === 404) return { items: [] }
  return response.json()
}

async function ask(client: OpenAI, content: string, streamed: boolean): Promise<void> {
  const call = { model: 'gpt-4o-mini', messages: [{ role: 'user' as const, content }] }
  if (!streamed) {
    await client.chat.completions.create(call)
    return
  }
  let text = ''
  for await (const chunk of await client.chat.completions.create({ ...call, stream: true }))
    text += chunk.choices[0]?.delta.content ?? ''
  expect(text).toContain('You said something')
}

import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import OpenAI from 'openai'
import { configure, shutdown, withSession, wrap } from '../index.ts'

/**
 * An agent that asks a model and calls tools, recorded as one session: `SERVICE_API_KEY=svc_…
 * OPENAI_API_KEY=… node sdk/typescript/examples/agent.ts [SESSION]`. Prints the session's name.
 */
const sessionId = process.argv[2] ?? `gates-${Date.now()}`

configure({ agentName: 'gate-keeper' })
const openai = wrap(new OpenAI())
const tools = wrap(new Client({ name: 'gate-keeper', version: '1.0.0' }))
await tools.connect(
  new StdioClientTransport({
    command: process.execPath,
    args: [join(import.meta.dirname, 'tool-server.ts')],
  }),
)

await withSession({ sessionId }, async () => {
  const { tools: offered } = await tools.listTools()
  const plan = await openai.chat.completions.create({
    model: 'gpt-4o-mini',
    messages: [
      {
        role: 'system',
        content: `You watch the gates. Tools: ${offered.map(({ name }) => name).join(', ')}`,
      },
      { role: 'user', content: 'How high is the water at the upper gate?' },
    ],
  })
  const level = await tools.callTool({ name: 'read_level', arguments: { gate: 'upper gate' } })
  await tools.callTool({ name: 'read_level', arguments: { gate: 'no such gate' } })
  await openai.chat.completions.create({
    model: 'gpt-4o-mini',
    messages: [
      { role: 'user', content: 'How high is the water at the upper gate?' },
      { role: 'assistant', content: plan.choices[0]?.message.content ?? '' },
      { role: 'user', content: `The tool says: ${JSON.stringify(level.content)}. Answer in one sentence.` },
    ],
  })
})
await tools.close()
await shutdown()
process.stdout.write(`${sessionId}\n`)

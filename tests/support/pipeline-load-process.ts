import { Pool } from 'undici'
import { ordinaryPrompts } from './real-prompts.ts'

/**
 * Load for benchmarks in its own process: calls a gateway as often as each message says and reports when each
 * answer came.
 */
const [url = '', key = ''] = process.argv.slice(2)
const connections = 32
const bodies = ordinaryPrompts(2_000).map((content) =>
  JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content }] }),
)
const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
const pool = new Pool(url, { connections, pipelining: 1 })
let made = 0

async function call(): Promise<void> {
  const body = bodies[made++ % bodies.length] as string
  const answer = await pool.request({ path: '/v1/chat/completions', method: 'POST', headers, body })
  await answer.body.dump()
  if (answer.statusCode !== 200) throw new Error(`a call was answered ${answer.statusCode}`)
  const id = String(answer.headers['x-service-request-id'])
  process.send?.({ id, atMs: performance.timeOrigin + performance.now() })
}

process.on('message', (count: number) => {
  for (let each = 0; each < count; each++) void call()
})
process.once('disconnect', () => process.exit())
process.send?.('')

import { setTimeout as sleep } from 'node:timers/promises'
import OpenAI from 'openai'

export interface Sending {
  gatewayUrl: string
  proxyApiKey: string
  prompts: readonly string[]
  /** Concurrent calls. */
  concurrency: number
  /** Pause of each sender after a call. */
  pauseMs?: number
  /** Called before each call; false ends the sending. */
  goOn?: () => boolean
}

/**
 * Sends prompts through the gateway with the official client without retries, every other one streamed.
 * Returns the gateway's ids of completely answered calls. Rejects if a call fails.
 */
export async function sendPrompts(sending: Sending): Promise<string[]> {
  const { gatewayUrl, proxyApiKey, prompts, concurrency, pauseMs = 0, goOn } = sending
  const client = new OpenAI({ baseURL: `${gatewayUrl}/v1`, apiKey: proxyApiKey, maxRetries: 0 })
  const ids: string[] = []
  const queue = prompts.entries()
  const work = async () => {
    for (const [index, prompt] of queue) {
      if (goOn?.() === false) return
      ids.push(await (index % 2 === 0 ? ask(client, prompt) : stream(client, prompt)))
      if (pauseMs > 0) await sleep(pauseMs)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work))
  return ids
}

const question = (content: string) => ({
  model: 'gpt-4o-mini',
  messages: [{ role: 'user' as const, content }],
})

async function ask(client: OpenAI, prompt: string): Promise<string> {
  const { data, response } = await client.chat.completions.create(question(prompt)).withResponse()
  return idOf(response, data.choices[0]?.message.content ?? '')
}

async function stream(client: OpenAI, prompt: string): Promise<string> {
  const { data, response } = await client.chat.completions
    .create({ ...question(prompt), stream: true, stream_options: { include_usage: true } })
    .withResponse()
  let text = ''
  for await (const chunk of data) text += chunk.choices[0]?.delta.content ?? ''
  return idOf(response, text)
}

function idOf(response: Response, text: string): string {
  if (!text.startsWith('You said something of')) throw new Error(`not the provider's answer: ${text}`)
  const id = response.headers.get('x-service-request-id')
  if (id === null) throw new Error('the gateway gave no request id')
  return id
}

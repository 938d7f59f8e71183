import type { ClientCall } from './client-call.ts'

interface Asked {
  url: string
  key: string
  prompt: string
  isStreamed: boolean
}

const timeoutMs = 60_000

/** One call of an application, never repeated. It counts as taken when its whole answer came. */
export async function callGateway(call: ClientCall, { url, key, prompt, isStreamed }: Asked): Promise<void> {
  try {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'x-service-request-id': call.id,
        'x-service-agent-name': 'chaos',
      },
      body: JSON.stringify({
        model: 'gpt-4o-mini',
        stream: isStreamed,
        messages: [{ role: 'user', content: prompt }],
      }),
      signal: AbortSignal.timeout(timeoutMs),
    })
    const text = await response.text()
    if (response.headers.get('x-service-request-id') !== call.id)
      throw new Error(`the gateway recorded ${call.id} under another id`)
    const isWhole = isStreamed ? text.endsWith('data: [DONE]\n\n') : text.endsWith('}')
    if (response.status === 200 && isWhole) call.end = 'taken'
  } catch (error) {
    // The gateway was killed or stopped during this call. What became of the record is unknown.
    if (!(error instanceof TypeError || (error as Error).name === 'TimeoutError')) throw error
  }
}

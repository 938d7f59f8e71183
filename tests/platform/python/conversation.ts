/** An exchange with a provider, as it passes over the wire. */
export interface Conversation {
  name: string
  path: string
  request: object | string
  status: number
  contentType: string
  chunks: readonly string[]
}

export const user = [{ role: 'user', content: 'Hi, Zoë \u{1f30a}' }]

export const sse = (...chunks: (object | string)[]) =>
  chunks.map((chunk) => `data: ${typeof chunk === 'string' ? chunk : JSON.stringify(chunk)}\n\n`)

export const named = (...chunks: { type: string }[]) =>
  chunks.map((chunk) => `event: ${chunk.type}\ndata: ${JSON.stringify(chunk)}\n\n`)

export const stream = { contentType: 'text/event-stream; charset=utf-8', status: 200 }
export const json = { contentType: 'application/json', status: 200 }
export const chat = { path: '/v1/chat/completions' }

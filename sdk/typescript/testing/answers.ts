/** An answer of a model provider for tests, in the chunks that it is written in. */
export interface Answer {
  type: string
  chunks: readonly (string | Buffer)[]
}

export const said = 'Hello there'

export function json(body: object): Answer {
  return { type: 'application/json', chunks: [JSON.stringify(body)] }
}

export function events(...chunks: (object | string)[]): Answer {
  const named = (chunk: object | string) =>
    typeof chunk === 'object' && 'type' in chunk ? `event: ${String(chunk.type)}\n` : ''
  const text = (chunk: object | string) => (typeof chunk === 'string' ? chunk : JSON.stringify(chunk))
  return {
    type: 'text/event-stream',
    chunks: chunks.map((chunk) => `${named(chunk)}data: ${text(chunk)}\n\n`),
  }
}

export function lines(type: string, ...chunks: object[]): Answer {
  return { type, chunks: chunks.map((chunk) => `${JSON.stringify(chunk)}\n`) }
}

import { listOf, objectOf, textOf, type JsonObject } from '../json.ts'
import { growing, listIn, mergeDelta } from './merge-delta.ts'
import type { StreamAssembly } from './stream-assembly.ts'

/** A chunk of `/api/chat`, or of `/api/generate`, which has its text in `response`. */
export function isOllamaChunk(chunk: JsonObject): boolean {
  return (
    typeof chunk['done'] === 'boolean' &&
    (objectOf(chunk['message']) !== undefined || typeof chunk['response'] === 'string')
  )
}

/** Ollama's answer as without streaming: text grows, calls arrive complete, the last chunk has the counts. */
export function createOllamaAssembly(): StreamAssembly {
  const top = growing()
  const message = growing()
  return {
    add({ message: given, response, thinking, ...fields }) {
      const { tool_calls: calls, ...said } = objectOf(given) ?? {}
      mergeDelta(message, said)
      for (const call of listOf(calls)) listIn(message, 'tool_calls').push(call)
      for (const [name, words] of Object.entries({ response, thinking }))
        if (typeof words === 'string') top[name] = (textOf(top[name]) ?? '') + words
      Object.assign(top, fields)
    },
    body: () => (Object.keys(message).length === 0 ? { ...top } : { ...top, message }),
    ended: () => top['done'] === true,
  }
}

import { fieldAt, listOf, type JsonObject } from '../json.ts'
import type { StreamAssembly } from './stream-assembly.ts'

const messageTypes: readonly unknown[] = ['human', 'ai', 'tool', 'system']

/** Whether a chunk is the state of a LangGraph run. */
export function isRunState(chunk: JsonObject): boolean {
  return listOf(chunk['messages']).some((message) => messageTypes.includes(fieldAt(message, 'type')))
}

/**
 * A LangGraph run (`stream_mode: values`): each chunk is the whole state after a step, and the last is the
 * result.
 */
export function createRunAssembly(): StreamAssembly {
  let state: JsonObject = {}
  let error: unknown
  return {
    add(chunk) {
      if (isRunState(chunk)) [state, error] = [chunk, undefined]
      else if (typeof chunk['error'] === 'string') error = chunk['message'] ?? chunk['error']
    },
    body: () => (error === undefined ? state : { ...state, error }),
    // The end is only the name of an event.
    ended: () => false,
  }
}

import { fieldAt, textOf, type JsonObject } from '../json.ts'
import { growing, type Growing } from './merge-delta.ts'
import type { StreamAssembly } from './stream-assembly.ts'

/** Dify's chats, agents, completions and workflows: each chunk names its event. */
export function isDifyEvent(chunk: JsonObject): boolean {
  return (
    typeof chunk['event'] === 'string' &&
    (textOf(chunk['task_id']) ?? textOf(chunk['message_id'])) !== undefined
  )
}

/** Dify's answer as in blocking mode, with the agent's thoughts added. */
export function createDifyAssembly(): StreamAssembly {
  const top = growing()
  const thoughts = new Map<unknown, JsonObject>()
  let ended = false

  const handlers: Readonly<Record<string, (chunk: Growing) => void>> = {
    message: ({ answer, ...fields }) =>
      Object.assign(top, fields, { answer: textIn(top, 'answer') + (textOf(answer) ?? '') }),
    message_replace: ({ answer }) => {
      top['answer'] = answer
    },
    agent_thought: ({ id, ...thought }) => thoughts.set(id, thought),
    // A workflow repeats the text when it finishes.
    text_chunk: ({ data }) => {
      top['text'] = textIn(top, 'text') + (textOf(fieldAt(data, 'text')) ?? '')
    },
    // In a chat this precedes `message_end` and repeats its content.
    workflow_finished: (fields) => {
      if (top['message_id'] !== undefined) return
      Reflect.deleteProperty(top, 'text')
      Object.assign(top, fields)
      ended = true
    },
    message_end: (fields) => {
      Object.assign(top, fields)
      ended = true
    },
    error: ({ code, message, status }) => {
      top['error'] = { code, message, status }
    },
  }

  return {
    add({ event, ...fields }) {
      const name = event === 'agent_message' ? 'message' : (textOf(event) ?? '')
      if (Object.hasOwn(handlers, name)) handlers[name]?.({ ...fields })
    },
    body: () => ({ ...top, ...(thoughts.size === 0 ? {} : { agent_thoughts: [...thoughts.values()] }) }),
    ended: () => ended,
  }
}

function textIn(top: Growing, name: string): string {
  return textOf(top[name]) ?? ''
}

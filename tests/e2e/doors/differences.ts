import type { Difference } from './compare.ts'
import { conversations } from './conversations.ts'
import { doors, type Door } from './doors.ts'

/** What doors leave out or say otherwise than the gateway, and why. */
export interface Declared {
  /** Their `by`, or their title where several clients have the same. */
  doors: readonly string[]
  fields: readonly Difference['field'][]
  /** Names of conversations; absent: all. */
  in?: readonly string[]
  reason: string
}

const answered = conversations.filter(({ answer }) => answer.status === undefined).map(({ name }) => name)
const streams = ['stream', 'streamed tool call']
const failures = ['refused', 'failed']
const withTools = ['tool call', 'tool result', 'streamed tool call']
const withCalls = ['tool call', 'streamed tool call']
const withWords = answered.filter((name) => !withCalls.includes(name))
const two = ['long, two answers']
const callbacks = ['Python callback, LangChain', 'Python handler, LlamaIndex']
const openInference = ['openinference', 'openinference-langchain', 'openai-agents']

const inLogs = 'it sends words as log records; without them a call is not read'
const notStreamed = 'it leaves out streamed answers, which are not read'

/**
 * Inherent: identifiers, sessions, sources and times are not compared at all. A door that is named here
 * carries everything else as the gateway does.
 */
export const differences: readonly Declared[] = [
  {
    doors: ['openai-v2'],
    fields: ['messages', 'not_read'],
    reason: inLogs,
  },
  { doors: ['openai-v2'], fields: ['answer'], in: withWords, reason: inLogs },
  { doors: ['openai-v2'], fields: ['tool_calls', 'tool_names'], in: withCalls, reason: inLogs },
  { doors: ['openai-v2'], fields: ['instructions'], in: ['system'], reason: inLogs },
  { doors: ['openai-v2'], fields: ['tool_results'], in: ['tool result'], reason: inLogs },
  {
    doors: ['anthropic'],
    fields: ['not_read', 'finish_reason'],
    in: streams,
    reason: notStreamed,
  },
  { doors: ['anthropic'], fields: ['answer'], in: ['stream'], reason: notStreamed },
  {
    doors: ['anthropic'],
    fields: ['tool_calls', 'tool_names'],
    in: ['streamed tool call'],
    reason: notStreamed,
  },
  {
    doors: ['traceloop'],
    fields: ['messages', 'not_read'],
    in: ['image'],
    reason: 'it leaves out the messages of a request with an image: they are not read',
  },
  {
    doors: [
      ...['traceloop', 'anthropic', 'openai-v2', 'openai-agents'],
      ...['langfuse', 'langfuse-openai', 'langfuse-vercel'],
    ],
    fields: ['images'],
    in: ['image'],
    reason: 'it leaves out images, or uploads them elsewhere',
  },
  {
    doors: ['openai-agents', 'anthropic', 'openai-v2'],
    fields: ['tools'],
    in: withTools,
    reason: 'it leaves out the tools that were offered',
  },
  {
    doors: [
      ...[...openInference, 'openai-v2', 'logfire', 'langfuse', 'langfuse-openai', 'vercel', 'vercel-legacy'],
      ...['langfuse-vercel', 'Python callback, LangChain'],
    ],
    fields: ['thoughts'],
    in: ['reasoning'],
    reason: 'it, or the client that it traces, leaves out thoughts of chat completions',
  },
  {
    doors: ['openai-agents', 'openai-v2'],
    fields: ['prompt_tokens', 'cached_tokens', 'cost_usd'],
    in: ['cache'],
    reason: 'it leaves out cached tokens, which then count as prompt',
  },
  {
    doors: ['openai-agents', 'openai-v2', 'vercel', 'langfuse-vercel'],
    fields: ['completion_tokens', 'reasoning_tokens'],
    in: ['reasoning'],
    reason: 'it leaves out tokens of thoughts, which then count as answer',
  },
  {
    doors: ['traceloop-anthropic'],
    fields: ['completion_tokens', 'cost_usd'],
    in: streams,
    reason: "it adds the first count of a stream's tokens to the last",
  },
  {
    doors: [
      'openinference-langchain',
      'openai-agents',
      'traceloop',
      'traceloop-anthropic',
      'openai-v2',
      'logfire',
    ],
    fields: ['first_token'],
    in: streams,
    reason: 'it does not say when the first token came',
  },
  {
    doors: [
      ...openInference,
      'traceloop',
      'traceloop-anthropic',
      'openai-v2',
      'logfire',
      'langfuse',
      'langfuse-openai',
      'vercel',
      'langfuse-vercel',
    ],
    fields: ['status_code'],
    in: answered,
    reason: 'it states no status of calls that succeed',
  },
  {
    doors: ['vercel-legacy', ...callbacks],
    fields: ['status_code'],
    reason: 'it states no status',
  },
  {
    doors: [
      ...[...openInference, 'traceloop', 'traceloop-anthropic', 'anthropic', 'openai-v2', 'logfire'],
      ...['langfuse', 'langfuse-openai', ...callbacks],
    ],
    fields: ['error'],
    in: failures,
    reason: "its error is the client's exception, or its kind, around the provider's words",
  },
  {
    doors: ['langfuse-openai', 'Python handler, LlamaIndex'],
    fields: ['answer'],
    in: two,
    reason: 'it keeps one of several answers',
  },
  {
    doors: ['openai-agents', 'traceloop-anthropic', 'openai-v2', 'langfuse-openai'],
    fields: ['finish_reason'],
    in: answered,
    reason: 'it leaves out why answers ended, or has its own names for it',
  },
  {
    doors: ['langfuse'],
    fields: ['finish_reason'],
    in: answered.filter((name) => !streams.includes(name)),
    reason: 'it says why answers ended only of streams',
  },
  {
    doors: ['openinference', 'openinference-langchain'],
    fields: ['finish_reason'],
    in: two,
    reason: 'it says why the first of several answers ended',
  },
  {
    doors: ['Python handler, LlamaIndex'],
    fields: ['finish_reason'],
    in: [...streams, ...two],
    reason: 'the framework keeps only the last chunk of a stream, and one answer',
  },
  {
    doors: callbacks,
    fields: ['temperature'],
    reason: 'the framework does not tell parameters of the model',
  },
]

/** The differences that a door declares. */
export function declared({ title, by }: Pick<Door, 'title' | 'by'>): readonly Declared[] {
  return differences.filter(({ doors: named }) => named.includes(title) || named.includes(by))
}

/** Names in the list that no door has. */
export function unknownDoors(): string[] {
  const names = new Set(doors.flatMap(({ title, by }) => [title, by]))
  return differences.flatMap(({ doors: named }) => named.filter((name) => !names.has(name)))
}

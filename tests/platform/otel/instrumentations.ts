/** What is recorded of the calls of an instrumentation. Numbers count records. */
export interface Traced {
  program: 'python' | 'javascript'
  models: number
  /** Calls of tools. */
  tools: number
  /** Whose request and answer are there. Other words are said to be missing. */
  asked: number
  said: number
  /** That have cached tokens, and those of thoughts, apart. All others have the sums. */
  cached: number
  reasoning: number
  /** That have the name of their agent. */
  agents: number
}

const two = { models: 2, tools: 0, asked: 2, said: 2, cached: 2, reasoning: 2, agents: 0 }
const python = { program: 'python', ...two } as const
const javascript = { program: 'javascript', ...two } as const
/** An agent that calls a tool, and a stream. */
const vercel = { ...javascript, models: 3, tools: 1, asked: 3, said: 3, cached: 3, agents: 4 } as const

export const instrumentations = {
  // Without the words of streamed answers.
  anthropic: { ...python, said: 1, reasoning: 0 },
  'traceloop-anthropic': { ...python, reasoning: 0 },
  // An agent with a tool by responses, and one by chat completions, whose details are left out.
  'openai-agents': { ...python, models: 4, tools: 2, asked: 4, said: 4, agents: 6 },
  logfire: python,
  openinference: python,
  'openinference-langchain': python,
  // Without thoughts of streams.
  traceloop: { ...python, reasoning: 1 },
  langfuse: python,
  // Its words are log records.
  'openai-v2': { ...python, cached: 0, reasoning: 0 },
  vercel: { ...vercel, reasoning: 0 },
  'vercel-legacy': { ...vercel, reasoning: 3 },
  'langfuse-vercel': { ...vercel, reasoning: 0 },
  'langfuse-openai': javascript,
} as const satisfies Record<string, Traced>

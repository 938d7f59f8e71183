import type { protocols } from './start-provider.ts'

/** A way for calls to be recorded. */
export interface Door {
  /** As the page names it. */
  title: string
  program: 'python' | 'javascript'
  /** Of calls.py or calls.js. The reference is the same client through the gateway. */
  client: string
  /** `sdk`, `wrap`, `createFetch`, or an instrumentation. */
  by: string
  protocol: keyof typeof protocols
  /** It rewrites messages in the form of chat completions: bodies differ from those that were sent. */
  rewrites: boolean
  environment?: Readonly<Record<string, string>>
}

const python = (client: string, protocol: Door['protocol'], title: string, by = 'sdk'): Door => ({
  ...{ program: 'python', client, protocol, title, by, rewrites: by !== 'sdk' },
})
const javascript = (client: string, protocol: Door['protocol'], title: string, by: string): Door => ({
  ...{ program: 'javascript', client, protocol, title, by },
  rewrites: by !== 'wrap' && by !== 'createFetch',
})

/** Recorded by an SDK of Sluice. */
const sdkDoors: readonly Door[] = [
  javascript('openai', 'chat', 'TypeScript `wrap`, OpenAI', 'wrap'),
  javascript('anthropic', 'messages', 'TypeScript `wrap`, Anthropic', 'wrap'),
  javascript('google', 'candidates', 'TypeScript `wrap`, Google', 'wrap'),
  javascript('openai', 'chat', 'TypeScript `createFetch`, OpenAI', 'createFetch'),
  javascript('vercel', 'chat', 'TypeScript `createFetch`, Vercel AI SDK', 'createFetch'),
  javascript('langchain', 'chat', 'TypeScript `createFetch`, LangChain.js', 'createFetch'),
  python('openai', 'chat', 'Python `wrap`, OpenAI'),
  python('anthropic', 'messages', 'Python `wrap`, Anthropic'),
  python('google', 'candidates', 'Python `wrap`, Google'),
  python('mistral', 'chat', 'Python `wrap`, Mistral'),
  python('cohere', 'cohere', 'Python `wrap`, Cohere'),
  python('bedrock', 'converse', 'Python `wrap`, Bedrock'),
  python('httpx', 'chat', 'Python `httpx_transport`'),
  { ...python('langchain', 'chat', 'Python callback, LangChain'), rewrites: true },
  { ...python('llamaindex', 'chat', 'Python handler, LlamaIndex'), rewrites: true },
]

/** Recorded by an instrumentation of OpenTelemetry. */
const otelDoors: readonly Door[] = [
  python('openai', 'chat', 'OpenInference, OpenAI', 'openinference'),
  python('langchain', 'chat', 'OpenInference, LangChain', 'openinference-langchain'),
  python('agents', 'chat', 'OpenInference, OpenAI Agents', 'openai-agents'),
  python('openai', 'chat', 'Traceloop, OpenAI', 'traceloop'),
  {
    ...python('anthropic', 'messages', 'Traceloop, Anthropic', 'traceloop-anthropic'),
    // As docs/opentelemetry.md says.
    environment: { ANTHROPIC_OPEN_TELEMETRY: 'false' },
  },
  python('anthropic', 'messages', "Anthropic's own spans", 'anthropic'),
  python('openai', 'chat', 'OpenTelemetry `openai-v2`', 'openai-v2'),
  python('openai', 'chat', 'Logfire, OpenAI', 'logfire'),
  python('openai', 'chat', 'Langfuse, OpenAI', 'langfuse'),
  javascript('openai', 'chat', 'Langfuse JS, OpenAI', 'langfuse-openai'),
  javascript('vercel', 'chat', 'Vercel `@ai-sdk/otel`', 'vercel'),
  javascript('vercel', 'chat', 'Vercel, older attributes', 'vercel-legacy'),
  javascript('vercel', 'chat', 'Langfuse JS, Vercel', 'langfuse-vercel'),
]

export const doors: readonly (Door & { source: 'sdk' | 'otel' })[] = [
  ...sdkDoors.map((door) => ({ ...door, source: 'sdk' as const })),
  ...otelDoors.map((door) => ({ ...door, source: 'otel' as const })),
]

import { tokens } from './answers.ts'

/** What a record of a conversation holds. */
export interface ExpectedRecord {
  provider: string
  model: string
  /** Null where the provider does not state it. */
  prompt_tokens: number | null
  completion_tokens: number | null
  /** Whether the answer has words. */
  speaks: boolean
  isStream: boolean
}

type Expected = Readonly<Record<string, ExpectedRecord>>

function words(provider: string, model: string, isStream = false): ExpectedRecord {
  const counts = { prompt_tokens: tokens.prompt, completion_tokens: tokens.completion }
  return { provider, model, ...counts, speaks: true, isStream }
}

function numbers(
  provider: string,
  model: string,
  promptTokens: number | null = tokens.prompt,
): ExpectedRecord {
  const counts = { prompt_tokens: promptTokens, completion_tokens: null }
  return { provider, model, ...counts, speaks: false, isStream: false }
}

/** Each by itself and streamed. */
function both(provider: string, model: string, ...names: string[]): Expected {
  return Object.fromEntries(
    names.flatMap((name) => [
      [name, words(provider, model)],
      [`${name}, streamed`, words(provider, model, true)],
    ]),
  )
}

const gpt = 'gpt-4o-mini'
const flash = 'gemini-2.5-flash'
const onBedrock = 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0'

/** By client and conversation, as clients.js has them. */
export const expected: Readonly<Record<string, Expected>> = {
  openai: {
    ...both('openai', gpt, 'chat', 'responses'),
    embeddings: numbers('openai', 'text-embedding-3-small'),
  },
  azure: both('azure', gpt, 'chat'),
  anthropic: both('anthropic', 'claude-sonnet-4-5', 'messages'),
  gemini: {
    ...both('google', flash, 'generateContent'),
    embedContent: numbers('google', 'gemini-embedding-001', null),
  },
  vertex: {
    ...both('google', flash, 'generateContent'),
    embedContent: numbers('google', 'gemini-embedding-001'),
  },
  // The answer's own name, without the region of the path, is the more exact one.
  bedrock: {
    ...both('bedrock', 'claude-sonnet-4-5', 'invoke'),
    ...both('bedrock', onBedrock, 'converse'),
  },
  cohere: {
    ...both('cohere', 'command-a-03-2025', 'chat'),
    embed: numbers('cohere', 'embed-v4.0'),
    rerank: numbers('cohere', 'rerank-v3.5', null),
  },
  mistral: {
    ...both('mistral', 'mistral-small-latest', 'chat'),
    'fill in the middle': words('mistral', 'codestral-latest'),
  },
  ollama: {
    ...both('ollama', 'llama3.2', 'chat', 'generate'),
    embed: numbers('ollama', 'nomic-embed-text'),
  },
  groq: both('groq', 'llama-3.3-70b-versatile', 'chat'),
  together: both('together', 'meta-llama/Llama-3.3-70B-Instruct-Turbo', 'chat'),
  voyage: {
    embed: numbers('voyage', 'voyage-3.5'),
    rerank: numbers('voyage', 'rerank-2.5'),
  },
}

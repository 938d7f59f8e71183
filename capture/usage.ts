import { countOf, fieldAt, listOf, objectOf, textOf } from './json.ts'
import { runMessages } from './platform-answers.ts'

/**
 * Tokens of a call in disjoint buckets, so that none is billed twice. `promptTokens` are uncached (cache
 * writes included), `cachedTokens` came from the provider's cache, `completionTokens` are visible in the
 * answer, `reasoningTokens` are not. Null, never 0, if the provider did not say.
 */
export interface TokenUsage {
  promptTokens: number | null
  completionTokens: number | null
  cachedTokens: number | null
  reasoningTokens: number | null
  /** Part of `promptTokens`: written to the cache, which may cost more. 0 if not stated. */
  writtenTokens: number
  /** Part of `writtenTokens`: cached for an hour. */
  writtenHourTokens: number
}

/** The usage object of an answer. */
export function usageIn(responseBody: unknown): unknown {
  return [
    fieldAt(responseBody, 'usage'),
    fieldAt(responseBody, 'response', 'usage'),
    // Groq's and Kimi's, in streams that did not request usage.
    fieldAt(responseBody, 'x_groq', 'usage'),
    fieldAt(listOf(fieldAt(responseBody, 'choices'))[0], 'usage'),
    // Dify
    fieldAt(responseBody, 'metadata', 'usage'),
  ].find((found) => objectOf(found) !== undefined)
}

/** Reads token counts in any provider's format. */
export function usageOf(responseBody: unknown): TokenUsage {
  const usage = usageIn(responseBody)
  if (usage !== undefined) return usageOfObject(usage, fieldAt(responseBody, 'model'))
  const ofRun = runMessages(responseBody).map((message) => fieldAt(message, 'usage_metadata'))
  if (ofRun.some((found) => objectOf(found) !== undefined)) return runUsage(ofRun)
  const google = fieldAt(responseBody, 'usageMetadata')
  if (objectOf(google) !== undefined) return googleUsage(google)
  const cohere = fieldAt(responseBody, 'meta')
  if (objectOf(cohere) !== undefined) return cohereUsage(cohere)
  return separateUsage({
    prompt: countOf(fieldAt(responseBody, 'prompt_eval_count')) ?? embeddedTokens(responseBody),
    completion: countOf(fieldAt(responseBody, 'eval_count')),
  })
}

/** A `usage` object: OpenAI's two formats, Anthropic, Bedrock and Cohere v2. */
function usageOfObject(usage: unknown, model: unknown): TokenUsage {
  const count = (...path: readonly string[]) => countOf(fieldAt(usage, ...path))
  if (objectOf(fieldAt(usage, 'tokens')) ?? objectOf(fieldAt(usage, 'billed_units')))
    return cohereUsage(usage)
  if (count('inputTokens') !== undefined) return bedrockUsage(usage)
  if (count('total_input_tokens') !== undefined) return interactionUsage(usage)
  const isIterated = count('input_tokens') !== undefined && Array.isArray(fieldAt(usage, 'iterations'))
  const countsCaches = ['cache_read_input_tokens', 'cache_creation_input_tokens'].some(
    (name) => count(name) !== undefined,
  )
  if (isIterated || countsCaches) return anthropicUsage(usage)
  const prompt = count('prompt_tokens') ?? count('input_tokens')
  const completion = count('completion_tokens') ?? count('output_tokens')
  const total = count('total_tokens')
  return separateUsage({
    prompt,
    completion,
    cached:
      count('prompt_tokens_details', 'cached_tokens') ??
      count('input_tokens_details', 'cached_tokens') ??
      // Realtime
      count('input_token_details', 'cached_tokens') ??
      count('prompt_cache_hit_tokens') ??
      // Kimi
      count('cached_tokens'),
    written:
      count('prompt_tokens_details', 'cache_write_tokens') ??
      count('input_tokens_details', 'cache_write_tokens'),
    reasoning:
      count('completion_tokens_details', 'reasoning_tokens') ??
      count('output_tokens_details', 'reasoning_tokens') ??
      count('output_tokens_details', 'thinking_tokens') ??
      (isGemini.test(textOf(model) ?? '') ? restOf(total, prompt, completion) : undefined),
    total,
  })
}

/** In OpenAI's format Gemini counts its thoughts only in the total. */
const isGemini = /^(?:.*\/)?gemini/

function restOf(total = 0, prompt?: number, completion = 0): number | undefined {
  return prompt !== undefined && total > prompt + completion ? total - prompt - completion : undefined
}

interface InclusiveUsage {
  prompt: number | undefined
  completion: number | undefined
  cached?: number | undefined
  written?: number | undefined
  reasoning?: number | undefined
  total?: number | undefined
}

/**
 * Subtracts cached from prompt and reasoning from completion tokens where they are included. Some hosts count
 * them separately: then the total shows it, or a part larger than its whole.
 */
function separateUsage(usage: InclusiveUsage): TokenUsage {
  const { prompt, completion, cached, reasoning, written = 0, total } = usage
  const sum = (prompt ?? 0) + (completion ?? 0)
  const inside = (whole: number | undefined, part = 0) =>
    whole === undefined || part > whole || (part > 0 && total === sum + part) ? 0 : part
  const promptTokens = prompt === undefined ? null : prompt - inside(prompt, cached)
  return {
    promptTokens,
    completionTokens: completion === undefined ? null : completion - inside(completion, reasoning),
    cachedTokens: cached ?? null,
    reasoningTokens: reasoning ?? null,
    writtenTokens: Math.min(written, promptTokens ?? 0),
    writtenHourTokens: 0,
  }
}

/**
 * Anthropic counts cache reads and writes beside `input_tokens`, and thinking within `output_tokens`.
 * Compaction is billed but not included. With an advisor, the top-level input is that of the first step only.
 */
function anthropicUsage(usage: unknown): TokenUsage {
  const steps = iterationsOf(usage, adviceType).length > 0 ? iterationsOf(usage, 'message') : []
  const count = sumIn([...(steps.length > 0 ? steps : [usage]), ...iterationsOf(usage, 'compaction')])
  const output = separateUsage({
    prompt: undefined,
    completion: count('output_tokens'),
    reasoning:
      count('output_tokens_details', 'thinking_tokens') ??
      countOf(fieldAt(usage, 'output_tokens_details', 'thinking_tokens')),
  })
  const written = count('cache_creation_input_tokens') ?? 0
  return {
    ...output,
    ...cachedBeside(count('input_tokens'), written),
    cachedTokens: count('cache_read_input_tokens') ?? null,
    writtenHourTokens: Math.min(written, count('cache_creation', 'ephemeral_1h_input_tokens') ?? 0),
  }
}

const adviceType = 'advisor_message'

function iterationsOf(usage: unknown, type: string): unknown[] {
  return listOf(fieldAt(usage, 'iterations')).filter((iteration) => fieldAt(iteration, 'type') === type)
}

/** Usage of another model, billed at that model's price. */
export interface AdviceUsage {
  model: string
  usage: TokenUsage
}

/** A hostile answer can have very many; beyond this the cost is unknown. */
const maxAdvice = 100

/** Usage of advisor models (Anthropic), which no other count includes. */
export function adviceIn(responseBody: unknown): AdviceUsage[] {
  const given = iterationsOf(usageIn(responseBody), adviceType)
  return (given.length > maxAdvice ? [undefined] : given).map((advice) => ({
    model: textOf(fieldAt(advice, 'model')) ?? 'unknown',
    usage: anthropicUsage(advice),
  }))
}

/** Sums a field over all usages; undefined if none has it. */
function sumIn(usages: readonly unknown[]): (...path: readonly string[]) => number | undefined {
  return (...path) => {
    const counts = usages
      .map((usage) => countOf(fieldAt(usage, ...path)))
      .filter((count) => count !== undefined)
    return counts.length === 0 ? undefined : countOf(counts.reduce((sum, count) => sum + count, 0))
  }
}

/** Vertex AI counts the tokens of each text that it embeds. */
function embeddedTokens(responseBody: unknown): number | undefined {
  return sumIn(listOf(fieldAt(responseBody, 'predictions')))('embeddings', 'statistics', 'token_count')
}

/** LangChain: input includes caches, output includes reasoning. One usage per model answer of a run. */
function runUsage(usages: readonly unknown[]): TokenUsage {
  const count = sumIn(usages)
  return separateUsage({
    prompt: count('input_tokens'),
    completion: count('output_tokens'),
    cached: count('input_token_details', 'cache_read'),
    written: count('input_token_details', 'cache_creation'),
    reasoning: count('output_token_details', 'reasoning'),
  })
}

function cachedBeside(
  input: number | undefined,
  written: number,
): Pick<TokenUsage, 'promptTokens' | 'writtenTokens'> {
  return input === undefined
    ? { promptTokens: null, writtenTokens: 0 }
    : { promptTokens: input + written, writtenTokens: written }
}

function bedrockUsage(usage: unknown): TokenUsage {
  const written = countOf(fieldAt(usage, 'cacheWriteInputTokens')) ?? 0
  const forHour = listOf(fieldAt(usage, 'cacheDetails')).filter((detail) => fieldAt(detail, 'ttl') === '1h')
  return {
    ...cachedBeside(countOf(fieldAt(usage, 'inputTokens')), written),
    completionTokens: countOf(fieldAt(usage, 'outputTokens')) ?? null,
    cachedTokens: countOf(fieldAt(usage, 'cacheReadInputTokens')) ?? null,
    reasoningTokens: null,
    writtenHourTokens: Math.min(written, sumIn(forHour)('inputTokens') ?? 0),
  }
}

/** Gemini includes cached content in the prompt, and counts tool results and thoughts separately. */
function googleUsage(usage: unknown): TokenUsage {
  const count = (name: string) => countOf(fieldAt(usage, name))
  return withThoughtsBeside(
    { prompt: count('promptTokenCount'), ofTools: count('toolUsePromptTokenCount') },
    {
      // Gemini Live has the second name.
      completion: count('candidatesTokenCount') ?? count('responseTokenCount'),
      cached: count('cachedContentTokenCount'),
    },
    count('thoughtsTokenCount'),
  )
}

/** The same counts under the names of Google's interactions. */
function interactionUsage(usage: unknown): TokenUsage {
  const count = (name: string) => countOf(fieldAt(usage, `total_${name}_tokens`))
  return withThoughtsBeside(
    { prompt: count('input'), ofTools: count('tool_use') },
    { completion: count('output'), cached: count('cached') },
    count('thought'),
  )
}

function withThoughtsBeside(
  { prompt, ofTools = 0 }: { prompt: number | undefined; ofTools: number | undefined },
  counted: Pick<InclusiveUsage, 'completion' | 'cached'>,
  thoughts: number | undefined,
): TokenUsage {
  return {
    ...separateUsage({ ...counted, prompt: prompt === undefined ? undefined : prompt + ofTools }),
    reasoningTokens: thoughts ?? null,
  }
}

function cohereUsage(meta: unknown): TokenUsage {
  const count = (name: string) =>
    countOf(fieldAt(meta, 'tokens', name)) ?? countOf(fieldAt(meta, 'billed_units', name))
  return separateUsage({
    prompt: count('input_tokens'),
    completion: count('output_tokens'),
    cached: countOf(fieldAt(meta, 'cached_tokens')),
  })
}

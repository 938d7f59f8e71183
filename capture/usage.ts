import { countOf, fieldAt, listOf, objectOf, textOf } from './json.ts'
import { runMessages } from './platform-answers.ts'

/**
 * Tokens of one call in buckets that do not overlap, so that no token is paid for twice: `promptTokens` were read anew
 * (written to a cache included), `cachedTokens` came from the provider's cache, `completionTokens` can be seen in the answer,
 * `reasoningTokens` cannot. Null: the provider did not say. Never 0 for that.
 */
export interface TokenUsage {
  promptTokens: number | null
  completionTokens: number | null
  cachedTokens: number | null
  reasoningTokens: number | null
  /** Part of `promptTokens`: written to the provider's cache, which may cost more than reading it anew. 0 when nothing is said. */
  writtenTokens: number
  /** Part of `writtenTokens`: to be kept for an hour. */
  writtenHourTokens: number
}

/** The object in which an answer says what it used. */
export function usageIn(responseBody: unknown): unknown {
  return [
    fieldAt(responseBody, 'usage'),
    fieldAt(responseBody, 'response', 'usage'),
    // Groq's and Kimi's, in streams that were not asked for usage.
    fieldAt(responseBody, 'x_groq', 'usage'),
    fieldAt(listOf(fieldAt(responseBody, 'choices'))[0], 'usage'),
    // Dify's.
    fieldAt(responseBody, 'metadata', 'usage'),
  ].find((found) => objectOf(found) !== undefined)
}

/** Reads what an answer says of its tokens, in the words of whichever provider. */
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
    prompt: countOf(fieldAt(responseBody, 'prompt_eval_count')),
    completion: countOf(fieldAt(responseBody, 'eval_count')),
  })
}

/** A `usage` object: OpenAI's two dialects, Anthropic's, Bedrock's and Cohere's second. */
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
      count('prompt_cache_hit_tokens') ??
      // Kimi's.
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

/** Its thoughts, in OpenAI's dialect, stand in the total alone. */
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
 * Takes cached tokens out of the prompt's and reasoning tokens out of the completion's, where they are counted in. Some hosts of the same
 * dialect count them beside: the total tells, and that a part is larger than its whole.
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
 * Anthropic counts cache reads and writes beside `input_tokens`, and thinking in `output_tokens`. Writes are input, read anew. What it took to
 * shorten the conversation on the way is paid for like all else, and stands in none of these; where advice was asked for, they have the input of the first step alone.
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

/** What another model used, which costs what that model does. */
export interface AdviceUsage {
  model: string
  usage: TokenUsage
}

/** A hostile answer can hold as many as fit in it: nobody says what more than these cost. */
const maxAdvice = 100

/** What the models used that the one which answers asked for advice (Anthropic's); it stands in no other count. */
export function adviceIn(responseBody: unknown): AdviceUsage[] {
  const given = iterationsOf(usageIn(responseBody), adviceType)
  return (given.length > maxAdvice ? [undefined] : given).map((advice) => ({
    model: textOf(fieldAt(advice, 'model')) ?? 'unknown',
    usage: anthropicUsage(advice),
  }))
}

/** A field's counts in all of them together; undefined where none has one. */
function sumIn(usages: readonly unknown[]): (...path: readonly string[]) => number | undefined {
  return (...path) => {
    const counts = usages
      .map((usage) => countOf(fieldAt(usage, ...path)))
      .filter((count) => count !== undefined)
    return counts.length === 0 ? undefined : countOf(counts.reduce((sum, count) => sum + count, 0))
  }
}

/** LangChain's words: caches are counted in the input, reasoning in the output. One for each answer of the model in a run. */
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

/** Gemini counts cached content in the prompt, and beside it what tools brought in; thoughts beside the candidates. */
function googleUsage(usage: unknown): TokenUsage {
  const count = (name: string) => countOf(fieldAt(usage, name))
  return withThoughtsBeside(
    { prompt: count('promptTokenCount'), ofTools: count('toolUsePromptTokenCount') },
    { completion: count('candidatesTokenCount'), cached: count('cachedContentTokenCount') },
    count('thoughtsTokenCount'),
  )
}

/** The same counts under the names of its interactions. */
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

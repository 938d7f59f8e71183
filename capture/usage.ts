import { countOf, fieldAt, objectOf } from './json.ts'

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
}

/** Reads what an answer says of its tokens, in the words of whichever provider. */
export function usageOf(responseBody: unknown): TokenUsage {
  const usage = fieldAt(responseBody, 'usage') ?? fieldAt(responseBody, 'response', 'usage')
  if (objectOf(usage) !== undefined) return usageOfObject(usage)
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
function usageOfObject(usage: unknown): TokenUsage {
  const count = (...path: readonly string[]) => countOf(fieldAt(usage, ...path))
  if (objectOf(fieldAt(usage, 'tokens')) ?? objectOf(fieldAt(usage, 'billed_units')))
    return cohereUsage(usage)
  if (count('inputTokens') !== undefined) return bedrockUsage(usage)
  if (count('cache_read_input_tokens') !== undefined || count('cache_creation_input_tokens') !== undefined)
    return anthropicUsage(usage)
  return separateUsage({
    prompt: count('prompt_tokens') ?? count('input_tokens'),
    completion: count('completion_tokens') ?? count('output_tokens'),
    cached:
      count('prompt_tokens_details', 'cached_tokens') ??
      count('input_tokens_details', 'cached_tokens') ??
      count('prompt_cache_hit_tokens'),
    reasoning:
      count('completion_tokens_details', 'reasoning_tokens') ??
      count('output_tokens_details', 'reasoning_tokens'),
    total: count('total_tokens'),
  })
}

interface InclusiveUsage {
  prompt: number | undefined
  completion: number | undefined
  cached?: number | undefined
  reasoning?: number | undefined
  total?: number | undefined
}

/** Takes cached tokens out of the prompt's and reasoning tokens out of the completion's, where they are counted in. */
function separateUsage({ prompt, completion, cached, reasoning, total }: InclusiveUsage): TokenUsage {
  // Some hosts of the same dialect count reasoning beside the completion; the total tells which.
  const reasoningIsBeside =
    reasoning !== undefined && reasoning > 0 && total === (prompt ?? 0) + (completion ?? 0) + reasoning
  return {
    promptTokens: prompt === undefined ? null : Math.max(0, prompt - (cached ?? 0)),
    completionTokens:
      completion === undefined ? null : Math.max(0, completion - (reasoningIsBeside ? 0 : (reasoning ?? 0))),
    cachedTokens: cached ?? null,
    reasoningTokens: reasoning ?? null,
  }
}

/** Anthropic counts cache reads and writes beside `input_tokens`. Writes are input, read anew. */
function anthropicUsage(usage: unknown): TokenUsage {
  const input = countOf(fieldAt(usage, 'input_tokens'))
  const written = countOf(fieldAt(usage, 'cache_creation_input_tokens')) ?? 0
  return {
    promptTokens: input === undefined ? null : input + written,
    completionTokens: countOf(fieldAt(usage, 'output_tokens')) ?? null,
    cachedTokens: countOf(fieldAt(usage, 'cache_read_input_tokens')) ?? null,
    reasoningTokens: null,
  }
}

function bedrockUsage(usage: unknown): TokenUsage {
  const input = countOf(fieldAt(usage, 'inputTokens'))
  const written = countOf(fieldAt(usage, 'cacheWriteInputTokens')) ?? 0
  return {
    promptTokens: input === undefined ? null : input + written,
    completionTokens: countOf(fieldAt(usage, 'outputTokens')) ?? null,
    cachedTokens: countOf(fieldAt(usage, 'cacheReadInputTokens')) ?? null,
    reasoningTokens: null,
  }
}

/** Gemini counts cached content in the prompt and thoughts beside the candidates. */
function googleUsage(usage: unknown): TokenUsage {
  return {
    ...separateUsage({
      prompt: countOf(fieldAt(usage, 'promptTokenCount')),
      completion: countOf(fieldAt(usage, 'candidatesTokenCount')),
      cached: countOf(fieldAt(usage, 'cachedContentTokenCount')),
    }),
    reasoningTokens: countOf(fieldAt(usage, 'thoughtsTokenCount')) ?? null,
  }
}

function cohereUsage(meta: unknown): TokenUsage {
  const count = (name: string) =>
    countOf(fieldAt(meta, 'tokens', name)) ?? countOf(fieldAt(meta, 'billed_units', name))
  return separateUsage({ prompt: count('input_tokens'), completion: count('output_tokens') })
}

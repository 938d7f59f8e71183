import { countOf, objectOf, type JsonObject } from '../json.ts'
import { usageOf } from '../usage.ts'
import { unpacked } from './nested-attributes.ts'
import type { Attributes } from './otlp-values.ts'
import { firstOf, spanTokens } from './span-fields.ts'

/**
 * Disjoint: what conventions count as part of the prompt or the answer is taken off. Logfire states thoughts
 * only in the provider's own counts.
 */
export function tokensOf(attributes: Attributes): JsonObject {
  const usage = objectOf(unpacked(attributes.get('langfuse.observation.usage_details')))
  if (usage !== undefined) return langfuseTokens(usage)
  const count = (name: keyof typeof spanTokens) =>
    countOf(Number(firstOf(attributes, spanTokens[name]) ?? NaN))
  const [prompt, completion, cached, written, reasoning] = [
    count('prompt'),
    count('completion'),
    count('cached'),
    count('written'),
    count('reasoning') ?? reasoningOf(attributes.get('gen_ai.usage.raw')),
  ]
  return {
    prompt_tokens: less(prompt, cached),
    cached_tokens: prompt === undefined ? undefined : cached,
    cache_write_tokens: prompt === undefined ? undefined : written,
    completion_tokens: less(completion, reasoning),
    reasoning_tokens: completion === undefined ? undefined : reasoning,
  }
}

function reasoningOf(raw: unknown): number | undefined {
  return usageOf({ usage: objectOf(unpacked(raw)) }).reasoningTokens ?? undefined
}

/** Langfuse's kinds of usage exclude each other, unless they are a provider's own. */
function langfuseTokens(usage: JsonObject): JsonObject {
  if (usage['input'] === undefined && usage['output'] === undefined) {
    const { promptTokens, cachedTokens, completionTokens, reasoningTokens } = usageOf({ usage })
    return {
      prompt_tokens: promptTokens ?? undefined,
      cached_tokens: cachedTokens ?? undefined,
      completion_tokens: completionTokens ?? undefined,
      reasoning_tokens: reasoningTokens ?? undefined,
    }
  }
  const count = (...names: string[]) =>
    names.map((name) => countOf(usage[name])).find((one) => one !== undefined)
  const input = count('input')
  const written = count('cache_creation_input_tokens', 'input_cache_creation')
  return {
    prompt_tokens: input === undefined ? undefined : input + (written ?? 0),
    cached_tokens: count('input_cached_tokens', 'cache_read_input_tokens', 'input_cache_read'),
    cache_write_tokens: written,
    completion_tokens: count('output'),
    reasoning_tokens: count('output_reasoning_tokens', 'output_reasoning'),
  }
}

function less(whole: number | undefined, part: number | undefined): number | undefined {
  return whole === undefined ? undefined : Math.max(0, whole - (part ?? 0))
}

/** The cost that the instrumentation states. */
export function costOf(attributes: Attributes): JsonObject {
  const details = objectOf(unpacked(attributes.get('langfuse.observation.cost_details')))
  // Langfuse writes 0 where it knows none.
  const total = details?.['total'] || undefined
  const stated = Number(
    total ?? attributes.get('gen_ai.usage.cost') ?? attributes.get('llm.cost.total') ?? NaN,
  )
  return Number.isFinite(stated) && stated >= 0 ? { cost_usd: stated } : {}
}

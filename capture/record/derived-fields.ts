import { joinParts } from '../billed-parts.ts'
import { recordableUsage } from '../call-cost.ts'
import { describeCall } from '../describe-call.ts'

/** What ingest would derive from the bodies, as record fields. */
export function derivedFields(requestBody: unknown, responseBody: unknown) {
  const described = describeCall({ requestBody, responseBody })
  const usage = recordableUsage(responseBody)
  return {
    model: textFor(described.model, 256),
    provider: textFor(described.provider, 64),
    prompt_tokens: usage.promptTokens,
    cached_tokens: usage.cachedTokens,
    // Cache counts of zero are omitted.
    cache_write_tokens: usage.writtenTokens || undefined,
    cache_write_1h_tokens: usage.writtenHourTokens || undefined,
    completion_tokens: usage.completionTokens,
    reasoning_tokens: usage.reasoningTokens,
    service_tier: textFor(described.serviceTier, 64) ?? undefined,
    inference_geo: textFor(described.inferenceGeo, 64) ?? undefined,
    billed_parts: joinParts(described),
    cost_usd: described.statedCost ?? undefined,
  }
}

/** Fits ingest's limits; a body may contain any text. */
function textFor(text: string | null, maxLength: number): string | null {
  return text === null ? null : text.slice(0, maxLength).toWellFormed().replaceAll('\u0000', '\ufffd')
}

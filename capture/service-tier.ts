import { fieldAt, textOf } from './json.ts'
import { usageIn } from './usage.ts'

/**
 * The tier that served a call by its answer, in lower case: OpenAI's `service_tier` (`flex`, `priority`),
 * Anthropic's `batch` or `fast` of its usage, Bedrock's `serviceTier`, Google's `trafficType`. What was
 * asked for may have been served by another one, so the request is not looked at. Null: the answer does not
 * say.
 */
export function serviceTierOf(responseBody: unknown): string | null {
  const usage = usageIn(responseBody)
  // Anthropic's fast mode stands beside the tier, which is `standard` then.
  if (fieldAt(usage, 'speed') === 'fast') return 'fast'
  const tier =
    fieldAt(responseBody, 'service_tier') ??
    fieldAt(usage, 'service_tier') ??
    fieldAt(responseBody, 'serviceTier', 'type') ??
    fieldAt(responseBody, 'usageMetadata', 'serviceTier') ??
    // `ON_DEMAND_FLEX` at Google is what `flex` is elsewhere.
    textOf(fieldAt(responseBody, 'usageMetadata', 'trafficType'))?.replace(/^ON_DEMAND_/i, '')
  return textOf(tier)?.toLowerCase() ?? null
}

/** Where Anthropic says that it made the answer, in lower case. Null: it does not say. */
export function inferenceGeoOf(responseBody: unknown): string | null {
  return textOf(fieldAt(usageIn(responseBody), 'inference_geo'))?.toLowerCase() ?? null
}

import { fieldAt, textOf } from './json.ts'
import { usageIn } from './usage.ts'

/**
 * The service tier stated by the answer, in lower case: OpenAI's `service_tier` (`flex`, `priority`),
 * Anthropic's `batch` or `fast`, Bedrock's `serviceTier`, Google's `trafficType`. The request is ignored, as
 * another tier may have served it. Null: not stated.
 */
export function serviceTierOf(responseBody: unknown): string | null {
  const usage = usageIn(responseBody)
  // Anthropic reports fast mode beside the tier `standard`.
  if (fieldAt(usage, 'speed') === 'fast') return 'fast'
  const tier =
    fieldAt(responseBody, 'service_tier') ??
    fieldAt(usage, 'service_tier') ??
    fieldAt(responseBody, 'serviceTier', 'type') ??
    fieldAt(responseBody, 'usageMetadata', 'serviceTier') ??
    // Google's `ON_DEMAND_FLEX` is `flex` elsewhere.
    textOf(fieldAt(responseBody, 'usageMetadata', 'trafficType'))?.replace(/^ON_DEMAND_/i, '')
  return textOf(tier)?.toLowerCase() ?? null
}

/** Anthropic's region of the answer, in lower case. Null: not stated. */
export function inferenceGeoOf(responseBody: unknown): string | null {
  return textOf(fieldAt(usageIn(responseBody), 'inference_geo'))?.toLowerCase() ?? null
}

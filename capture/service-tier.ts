import { fieldAt, textOf } from './json.ts'
import { usageIn } from './usage.ts'

/**
 * The tier that served a call by its answer, in lower case: OpenAI's `service_tier` (`flex`, `priority`), Anthropic's `batch` or `fast` of its
 * usage. What was asked for may have been served by another one, so the request is not looked at. Null: the answer does not say.
 */
export function serviceTierOf(responseBody: unknown): string | null {
  const usage = usageIn(responseBody)
  // Anthropic's fast mode stands beside the tier, which is `standard` then.
  if (fieldAt(usage, 'speed') === 'fast') return 'fast'
  return (
    textOf(fieldAt(responseBody, 'service_tier') ?? fieldAt(usage, 'service_tier'))?.toLowerCase() ?? null
  )
}

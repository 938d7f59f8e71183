import { isStorableText } from '#schemas/fields.ts'
import type { JsonObject } from '../json.ts'

export const maxMetadataBytes = 16 * 1024

/** Why Postgres or a reader could not accept the metadata; undefined if they can. */
export function faultOfMetadata(metadata: JsonObject): string | undefined {
  // Depth first: JSON.stringify overflows the stack at some 10,000 levels.
  const fault = faultOfValue(metadata, 0)
  if (fault !== undefined) return fault
  const isTooLarge = Buffer.byteLength(JSON.stringify(metadata)) > maxMetadataBytes
  return isTooLarge ? `must be at most ${maxMetadataBytes} bytes of JSON` : undefined
}

function faultOfValue(value: unknown, depth: number): string | undefined {
  if (depth > 8) return 'must not be nested deeper than 8 levels'
  if (typeof value === 'string') {
    return isStorableText(value)
      ? undefined
      : 'must hold Unicode text without NUL characters or lone surrogates'
  }
  if (
    typeof value === 'number' &&
    (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value)))
  ) {
    return 'must not hold integers beyond 2^53: send them as strings'
  }
  if (typeof value !== 'object' || value === null) return undefined
  for (const [key, member] of Object.entries(value)) {
    const fault = faultOfValue(key, depth) ?? faultOfValue(member, depth + 1)
    if (fault !== undefined) return fault
  }
  return undefined
}

import { isUtf8 } from 'node:buffer'

const maxTextLength = 1_000
/** Items of a list that are shown: a scores record has about ten. */
const maxItems = 50

/**
 * A decoded record for display. Sealed bytes appear as size and key and are never opened: request pages show
 * them. Long texts and lists are truncated visibly. The schemas are not recursive, which bounds the depth.
 */
export function presentDecoded(value: unknown): unknown {
  if (typeof value === 'string') return cut(value)
  if (Buffer.isBuffer(value)) return isUtf8(value) ? cut(value.toString('utf8')) : { bytes: value.length }
  if (Array.isArray(value)) {
    const shown = value.slice(0, maxItems).map(presentDecoded)
    return value.length > maxItems ? [...shown, `… ${value.length - maxItems} more`] : shown
  }
  if (typeof value !== 'object' || value === null) return value
  if (isSealed(value)) return { sealed_bytes: value.data.length, key_id: value.key_id }
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, presentDecoded(field)]))
}

function cut(text: string): string {
  if (text.length <= maxTextLength) return text
  return `${text.slice(0, maxTextLength).toWellFormed()}… ${text.length - maxTextLength} more characters`
}

/** Recognised by its shape, which is unique in the schemas: decoded Avro has no type names. */
function isSealed(value: object): value is { key_id: string | null; data: Buffer } {
  return 'codec' in value && 'key_id' in value && 'data' in value && Buffer.isBuffer(value.data)
}

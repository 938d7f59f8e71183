import { isUtf8 } from 'node:buffer'

const maxTextLength = 1_000
/** Of a list: a record of scores has some ten. */
const maxItems = 50

/**
 * A decoded record as a person may look at it: sealed bytes as their size and key, never opened, for what was said has its own page; long texts and lists
 * cut and saying so. Schemas hold no value within itself, so that the depth is theirs.
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

/** By its shape, which no other record of a schema has: what came out of Avro no longer says its name. */
function isSealed(value: object): value is { key_id: string | null; data: Buffer } {
  return 'codec' in value && 'key_id' in value && 'data' in value && Buffer.isBuffer(value.data)
}

import { metadataPrefix } from '#schemas/metadata-filter.ts'

/** The API's limit for `metadata.<key>`, in UTF-16 units. */
const maxName = 256 - metadataPrefix.length
const maxText = 1_024

/**
 * Whether requests can be filtered by a metadata value. Not objects and lists, which Postgres formats with
 * other spaces.
 */
export function isFilterable(name: string, value: unknown): boolean {
  if (name === '' || name.length > maxName) return false
  if (typeof value === 'string') return value !== '' && value.length <= maxText
  return typeof value === 'number' || typeof value === 'boolean'
}

/** What the API takes as `metadata.<key>`, in UTF-16 units. */
const maxName = 256 - 'metadata.'.length
const maxText = 1_024

/** Whether requests can be chosen by a value of their metadata. Objects and lists cannot: Postgres writes them with other spaces than we do. */
export function isFilterable(name: string, value: unknown): boolean {
  if (name === '' || name.length > maxName) return false
  if (typeof value === 'string') return value !== '' && value.length <= maxText
  return typeof value === 'number' || typeof value === 'boolean'
}

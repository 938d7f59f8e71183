/** A filter by a key of the metadata is named `metadata.<key>`: of requests, of alert rules, in addresses. */
export const metadataPrefix = 'metadata.'

export function isMetadataFilter(name: string): boolean {
  return name.startsWith(metadataPrefix) && name !== metadataPrefix
}

export const metadataKeyOf = (name: string): string => name.slice(metadataPrefix.length)

export const metadataOperators = ['not', 'contains', 'prefix', 'gt', 'lt'] as const
export type MetadataOperator = (typeof metadataOperators)[number]

/** `metadata_not.<key>`: the operator stands before the key, because keys may have dots. */
export const metadataComparison = (operator: MetadataOperator, key: string): string =>
  `metadata_${operator}.${key}`

/** What such a name compares; undefined: it is none. */
export function readMetadataComparison(
  name: string,
): { operator: MetadataOperator; key: string } | undefined {
  for (const operator of metadataOperators) {
    const prefix = metadataComparison(operator, '')
    if (name.startsWith(prefix) && name !== prefix) return { operator, key: name.slice(prefix.length) }
  }
  return undefined
}

/** A filter by a key of the metadata is named `metadata.<key>`: of requests, of alert rules, in addresses. */
export const metadataPrefix = 'metadata.'

export function isMetadataFilter(name: string): boolean {
  return name.startsWith(metadataPrefix) && name !== metadataPrefix
}

export const metadataKeyOf = (name: string): string => name.slice(metadataPrefix.length)

/** Where a key in the query is held, among the headers that hold one. No header has this name. */
export const inQuery = '?key'

/** The values of `key` in the query of a request's URL. */
export function readQueryKeys(url: string): string[] {
  const at = url.indexOf('?')
  if (at === -1) return []
  return pairsOf(url, at)
    .filter(isKey)
    .map((pair) => decode(pair.slice(pair.indexOf('=') + 1)))
}

/** The URL without `key`, otherwise unchanged. */
export function withoutQueryKeys(url: string): string {
  const at = url.indexOf('?')
  if (at === -1) return url
  const rest = pairsOf(url, at).filter((pair) => !isKey(pair))
  return url.slice(0, at) + (rest.length === 0 ? '' : `?${rest.join('&')}`)
}

function pairsOf(url: string, queryAt: number): string[] {
  return url.slice(queryAt + 1).split('&')
}

function isKey(pair: string): boolean {
  const at = pair.indexOf('=')
  return at !== -1 && decode(pair.slice(0, at)) === 'key'
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch (error) {
    if (error instanceof URIError) return text
    throw error
  }
}

/** A request to a receiver over HTTP. */
export interface Rendered {
  url: string
  headers: Readonly<Record<string, string>>
  body: Buffer
}

export function jsonTo(
  url: string,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): Rendered {
  return {
    url,
    headers: { 'content-type': 'application/json', 'user-agent': 'Sluice/1', ...headers },
    body: Buffer.from(JSON.stringify(value)),
  }
}

import type { RawHeaders } from '../traffic/forwarded-headers.ts'

const protocolHeader = 'sec-websocket-protocol'
/** How clients in browsers, which cannot set headers, send their key to OpenAI. */
const keyProtocol = 'openai-insecure-api-key.'
/** By which the gateway finds a key that came as a subprotocol. */
const keyHeader = 'X-Service-Key'

/** The headers of a handshake, with a key from its subprotocols as a header of its own. */
export function withProtocolKey(raw: RawHeaders): RawHeaders {
  if (valuesOf(raw, keyHeader.toLowerCase()).length > 0) return raw
  const key = valuesOf(raw, protocolHeader)
    .flatMap(tokensIn)
    .find((token) => token.startsWith(keyProtocol))
    ?.slice(keyProtocol.length)
  return key === undefined ? raw : [...raw, keyHeader, key]
}

/** The headers without the subprotocol that holds a key of ours. */
export function withoutProtocolKey(headers: RawHeaders, key: string): string[] {
  const kept: string[] = []
  for (let at = 0; at < headers.length; at += 2) {
    const [name = '', value = ''] = [headers[at], headers[at + 1]]
    if (name.toLowerCase() !== protocolHeader) kept.push(name, value)
    else {
      const rest = tokensIn(value).filter((token) => token !== keyProtocol + key)
      if (rest.length === tokensIn(value).length) kept.push(name, value)
      else if (rest.length > 0) kept.push(name, rest.join(', '))
    }
  }
  return kept
}

/** The key that came as a subprotocol and is the caller's; undefined: it came otherwise. */
export function protocolKeyIn(raw: RawHeaders, heldBy: ReadonlySet<string>): string | undefined {
  if (!heldBy.has(keyHeader.toLowerCase())) return undefined
  const extended = withProtocolKey(raw)
  return extended === raw ? undefined : extended.at(-1)
}

/** The values of a header, given in lower case. */
function valuesOf(raw: RawHeaders, wanted: string): string[] {
  return raw.flatMap((name, at) => (at % 2 === 0 && name.toLowerCase() === wanted ? [raw[at + 1] ?? ''] : []))
}

function tokensIn(value: string): string[] {
  return value.split(',').map((token) => token.trim())
}

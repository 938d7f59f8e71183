import type { ClientUpstream } from './upstreams.ts'
import type { Exchange } from './exchange.ts'

/** Of each connection; `date` and framing are of each hop's own server. */
const ofHop = new Set(['host', 'connection', 'keep-alive', 'transfer-encoding', 'date', 'content-length'])
const ofGateway = new Set(['x-service-request-id', 'x-service-key'])
/** Headers in which clients present keys. */
const keyHeaders = new Set(['authorization', 'x-api-key', 'api-key', 'x-goog-api-key'])

/** In what the stand-in got other bytes than the client sent, or the client others than the stand-in. */
export function differencesOf(sent: Exchange, got: Exchange, { name, keyHeader }: ClientUpstream): string[] {
  const isReplaced = (header: string) => keyHeader !== null && keyHeaders.has(header)
  const expectedPath = sent.path.slice(name.length + 1)
  return [
    ...differ('method', sent.method, got.method),
    ...differ('path', expectedPath.startsWith('/') ? expectedPath : `/${expectedPath}`, got.path),
    ...differ('headers', passing(sent.headers, isReplaced), passing(got.headers, isReplaced)),
    ...(sent.body.equals(got.body) ? [] : ['the bytes of the request']),
    ...differ('status', got.answer.status, sent.answer.status),
    ...differ("the answer's headers", passing(got.answer.headers), passing(sent.answer.headers)),
    ...(sent.answer.body.equals(got.answer.body) ? [] : ['the bytes of the answer']),
  ]
}

function differ(what: string, before: unknown, after: unknown): string[] {
  const [one, other] = [JSON.stringify(before), JSON.stringify(after)]
  return one === other ? [] : [`${what}: ${one} became ${other}`]
}

/** Names and values in order, without those that no hop passes on. */
function passing(raw: readonly string[], isReplaced: (header: string) => boolean = () => false): string[] {
  return raw.flatMap((name, at) => {
    const lower = name.toLowerCase()
    const isLeftOut = at % 2 === 1 || ofHop.has(lower) || ofGateway.has(lower) || isReplaced(lower)
    return isLeftOut ? [] : [`${name}: ${raw[at + 1]}`]
  })
}

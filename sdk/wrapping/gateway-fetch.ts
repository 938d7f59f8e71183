import { messageOf } from '../capturing/message-of.ts'
import type { Warn } from '../warn.ts'
import { newId } from '../../schemas/ids.ts'
import type { Fetch } from '../capturing/record-fetch.ts'
import type { Session } from '../types.ts'
import { sessionFields } from '../session-fields.ts'

/** A client that speaks chat completions: it has an address, and is not one of a provider with a format of its own (Anthropic's old ones have `completions` beside `messages`). */
export function speaksChatCompletions(client: object): client is { baseURL: string } {
  const { baseURL, chat, completions, messages } = client as Record<string, unknown>
  const speaks = chat !== undefined || completions !== undefined
  return typeof baseURL === 'string' && speaks && messages === undefined
}

/** The address of `baseUrl` at the gateway: the gateway keeps paths as they are. */
export function throughGateway(baseUrl: string, proxyUrl: string): string {
  const { pathname, search } = new URL(baseUrl)
  return `${proxyUrl}${pathname === '/' ? '' : pathname}${search}`
}

/** Headers that carry a provider's key: it is the gateway that has one. */
const keyHeaders = ['authorization', 'api-key', 'x-api-key']

/**
 * `inner`, with the gateway's key in place of the provider's, and what the session says. The request id is one of its own for each HTTP
 * attempt, because clients repeat their requests by themselves.
 */
export function gatewayFetch(inner: Fetch, proxyKey: string, session: () => Session, warn: Warn): Fetch {
  return (input, init) => {
    const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined))
    for (const name of keyHeaders) headers.delete(name)
    headers.set('authorization', `Bearer ${proxyKey}`)
    headers.set('x-service-request-id', newId('request'))
    try {
      setLabels(headers, session(), warn)
    } catch (error) {
      warn('labels', `a call goes to the gateway without its labels: ${messageOf(error)}`)
    }
    return inner.call(undefined, input, { ...init, headers })
  }
}

function setLabels(headers: Headers, session: Session, warn: Warn): void {
  const { metadata, ...labels } = sessionFields(session, warn)
  for (const [field, text] of Object.entries(labels))
    headers.set(`x-service-${field.replaceAll('_', '-')}`, headerText(text))
  if (metadata !== undefined) headers.set('x-service-metadata', headerText(JSON.stringify(metadata)))
}

/** UTF-8 in a header's bytes, which fetch takes as Latin-1; without control characters, which end it or are refused. */
function headerText(text: string): string {
  return Buffer.from(text.replace(/\p{Cc}/gu, ' '), 'utf8').toString('latin1')
}

import { requestIn, type Fetch } from '../capturing/fetch-request.ts'
import { messageOf } from '../capturing/message-of.ts'
import type { Warn } from '../warn.ts'
import { newId } from '../../../schemas/ids.ts'
import type { Session } from '../types.ts'
import { sessionFields } from '../session-fields.ts'

/**
 * Whether a client speaks chat completions: it has an address, and no format of its own. Old Anthropic
 * clients have `completions` beside `messages`.
 */
export function speaksChatCompletions(client: object): client is { baseURL: string } {
  const { baseURL, chat, completions, messages } = client as Record<string, unknown>
  const speaks = chat !== undefined || completions !== undefined
  return typeof baseURL === 'string' && speaks && messages === undefined
}

/** `baseUrl` at the gateway, which keeps paths. */
export function throughGateway(baseUrl: string, proxyUrl: string): string {
  const { pathname, search } = new URL(baseUrl)
  return `${proxyUrl}${pathname === '/' ? '' : pathname}${search}`
}

/** Headers with a provider's key, which the gateway replaces by its own. */
const keyHeaders = ['authorization', 'api-key', 'x-api-key']

/**
 * `inner` with the gateway's key instead of the provider's, and the session's labels. Each HTTP attempt has
 * its own request id, as clients retry by themselves.
 */
export function gatewayFetch(inner: Fetch, proxyKey: string, session: () => Session, warn: Warn): Fetch {
  return (input, init) => {
    const headers = new Headers(init?.headers ?? requestIn(input)?.headers)
    for (const name of keyHeaders) headers.delete(name)
    headers.set('authorization', `Bearer ${proxyKey}`)
    headers.set('x-service-request-id', newId('request'))
    try {
      setLabels(headers, session(), warn)
    } catch (error) {
      warn('labels', `a call is sent to the gateway without labels: ${messageOf(error)}`)
    }
    return inner.call(undefined, input, { ...init, headers })
  }
}

function setLabels(headers: Headers, session: Session, warn: Warn): void {
  const { metadata, context, ...labels } = sessionFields(session, warn)
  for (const [field, text] of Object.entries(labels))
    headers.set(`x-service-${field.replaceAll('_', '-')}`, headerText(text))
  if (metadata !== undefined) headers.set('x-service-metadata', headerText(JSON.stringify(metadata)))
  if (context !== undefined) headers.set('x-service-context', headerText(context.join()))
}

/** UTF-8 bytes as Latin-1, which fetch expects, without control characters, which are invalid in headers. */
function headerText(text: string): string {
  return Buffer.from(text.replace(/\p{Cc}/gu, ' '), 'utf8').toString('latin1')
}

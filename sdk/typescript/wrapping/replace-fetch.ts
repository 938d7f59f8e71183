import { platformFetch, type Fetch } from '../capturing/fetch-request.ts'
import type { Dialect } from '../../../capture/model-calls.ts'

/** Replaces the function that a provider's client sends with, where the client's own options can set it. */
export type Replace = (inner: Fetch, dialect?: Dialect) => Fetch
type Slot = (client: Fields, replace: Replace) => boolean
type Fields = Record<string, unknown>

/**
 * Replaces a client's fetch by the result of `replace`. Everything else stays, so that types, errors,
 * retries, streams and helpers are the client's own. Returns false for an unknown client. Why not its
 * methods: docs/decisions/0040.
 */
export function replaceFetch(client: object, replace: Replace): boolean {
  return slots.some((slot) => slot(client as Fields, replace))
}

/**
 * OpenAI, Anthropic and other clients generated alike: `client.fetch`, and the options of derived clients.
 */
const stainless: Slot = (client, replace) => {
  if (typeof client['fetch'] !== 'function' || typeof client['baseURL'] !== 'string') return false
  const replaced = replace(client['fetch'] as Fetch)
  const options = fieldsOf(client['_options'])
  if (options !== undefined) options['fetch'] = replaced
  client['fetch'] = replaced
  return true
}

/**
 * Google GenAI: calls go through `apiClient.apiCall`, whose last argument is the fetch to use; interactions
 * use the result of `getFetch`, requested on first use.
 */
const google: Slot = (client, replace) => {
  const apiClient = fieldsOf(client['apiClient'])
  const apiCall = apiClient?.['apiCall']
  // Six parameters; another number is a version that passes fetch differently.
  if (apiClient === undefined || typeof apiCall !== 'function' || apiCall.length !== 6) return false
  apiClient['apiCall'] = (...given: unknown[]): unknown => {
    const inner = (given[5] ?? platformFetch) as Fetch
    return Reflect.apply(apiCall as Call, apiClient, [...given.slice(0, 5), replace(inner)])
  }
  const getFetch = apiClient['getFetch']
  if (typeof getFetch === 'function') {
    const inner = (Reflect.apply(getFetch as Call, apiClient, []) ?? platformFetch) as Fetch
    const replaced = replace(inner)
    apiClient['getFetch'] = () => replaced
    Reflect.deleteProperty(client, '_interactions')
  }
  return true
}

type Call = (...given: unknown[]) => unknown

/**
 * Mistral: parts of the client are created on first use from `_options`, whose `httpClient` sends by one
 * method.
 */
const mistral: Slot = (client, replace) => {
  const options = fieldsOf(client['_options'])
  if (options === undefined || !(client['_baseURL'] instanceof URL)) return false
  const given = fieldsOf(options['httpClient'])
  const inner: Fetch =
    typeof given?.['request'] === 'function'
      ? (input) => (given as unknown as HttpClient).request(input as Request)
      : platformFetch
  const replaced = replace(inner, 'mistral')
  options['httpClient'] = { request: (request: Request) => replaced(request) } satisfies HttpClient
  for (const [name, part] of Object.entries(client))
    if (fieldsOf(fieldsOf(part)?.['_options']) !== undefined) Reflect.deleteProperty(client, name)
  return true
}

interface HttpClient {
  request: (request: Request) => Promise<Response>
}

/** Cohere: each part of the client has its own options, with an optional `fetch`. */
const cohere: Slot = (client, replace) => {
  if (typeof client['chatStream'] !== 'function') return false
  const parts = [client, ...Object.values(client).map(fieldsOf)]
  const options = new Set(parts.map((part) => fieldsOf(part?.['_options'])))
  options.delete(undefined)
  for (const each of options) {
    if (each === undefined) continue
    each['fetch'] = replace(typeof each['fetch'] === 'function' ? (each['fetch'] as Fetch) : platformFetch)
  }
  return options.size > 0
}

const slots: readonly Slot[] = [stainless, google, mistral, cohere]

function fieldsOf(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null ? (value as Fields) : undefined
}

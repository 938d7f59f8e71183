import type { Operations } from './operations.d.ts'

export type OperationName = keyof Operations
export type Answer<K extends OperationName> = Operations[K]['answer']
/** The answer of a list paged by cursor. Other lists have their rows under `data`. */
export type Page<K extends OperationName> = WithItems<Answer<K>>
type WithItems<A> = A extends { items?: infer Items } ? A & { items: NonNullable<Items> } : never
export type Item<K extends OperationName> = Page<K>['items'] extends (infer One)[] ? One : never

/** Nothing if there are no fields; optional if every field is. */
type Given<Name extends string, T> = keyof T extends never
  ? unknown
  : Partial<T> extends T
    ? { readonly [N in Name]?: T }
    : { readonly [N in Name]: T }
export type Input<K extends OperationName> = Given<'params', Operations[K]['params']> &
  Given<'query', Operations[K]['query']> &
  (Operations[K]['body'] extends undefined ? unknown : { readonly body: Operations[K]['body'] })

interface AnyInput {
  params?: Readonly<Record<string, string>>
  query?: Readonly<Record<string, string | undefined>>
  body?: unknown
}

/** An answer with its ETag. */
export interface Tagged<T> {
  readonly data: T
  readonly etag: string | null
}

/** An error answer of the API: the problem and the fields at fault. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly code: string
  readonly errors: readonly { path: string; message: string }[]

  constructor(status: number, body: { detail?: unknown; code?: unknown; errors?: unknown }) {
    super(typeof body.detail === 'string' ? body.detail : `the answer was ${status}`)
    this.status = status
    this.code = typeof body.code === 'string' ? body.code : `HTTP_${status}`
    this.errors = Array.isArray(body.errors) ? (body.errors as { path: string; message: string }[]) : []
  }
}

/** Poll interval for what does not exist yet. */
export const retryPollMs = 5_000

/**
 * True if the API is unreachable or a proxy answers for it. Not for a database timeout, which a retry would
 * only prolong.
 */
export function isUnavailable(error: Error | null): boolean {
  return error instanceof ApiError ? error.status >= 502 && error.code !== 'QUERY_TOO_SLOW' : error !== null
}

/** The URL of an operation on the dashboard's server, which forwards it. */
export function addressOf<K extends OperationName>(operation: K, input: Input<K>): string {
  const { params = {}, query = {} } = input as AnyInput
  const path = operation
    .slice(operation.indexOf(' ') + 1)
    .replace(/\{(\w+)\}/g, (_marker, name: string) => encodeURIComponent(params[name] ?? ''))
  const given = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined)
  return `/bff${path}${given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`}`
}

/** Calls an operation. Throws ApiError for any error answer. */
export async function callApi<K extends OperationName>(
  operation: K,
  input: Input<K>,
  signal?: AbortSignal,
): Promise<Answer<K>> {
  return (await callTagged(operation, input, { signal })).data
}

/** Like callApi, but returns `known` if the API answers 304. */
export async function callTagged<K extends OperationName>(
  operation: K,
  input: Input<K>,
  { known, signal }: { known?: Tagged<Answer<K>> | undefined; signal?: AbortSignal | undefined },
): Promise<Tagged<Answer<K>>> {
  const { body } = input as AnyInput
  const response = await send(addressOf(operation, input), {
    method: operation.slice(0, operation.indexOf(' ')),
    body,
    ...(known?.etag == null ? {} : { headers: { 'if-none-match': known.etag } }),
    ...(signal === undefined ? {} : { signal }),
  })
  if (response.status === 304 && known !== undefined) return known
  return { data: (await readJson(response)) as Answer<K>, etag: response.headers.get('etag') }
}

interface Sending {
  method?: string
  body?: unknown
  headers?: Record<string, string>
  signal?: AbortSignal
}

/** Sends a request to the dashboard's server. Other sites cannot send the header without a CORS preflight. */
export async function send(
  address: string,
  { method = 'GET', body, headers = {}, signal }: Sending = {},
): Promise<Response> {
  const response = await fetch(address, {
    method,
    headers: {
      ...headers,
      'x-sluice-dashboard': '1',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    // This module handles ETags itself; the browser must not store answers on disk.
    cache: 'no-store',
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  })
  if (response.ok || response.status === 304) return response
  throw new ApiError(response.status, await readProblem(response))
}

async function readJson(response: Response): Promise<unknown> {
  const text = await response.text()
  return text === '' ? undefined : JSON.parse(text)
}

/** A proxy's answer may not be JSON; the status then has to suffice. */
async function readProblem(response: Response): Promise<object> {
  if (response.headers.get('content-type')?.includes('json') !== true) return {}
  const body: unknown = await response.json()
  return typeof body === 'object' && body !== null ? body : {}
}

/** The rows of a list paged by number. */
export function rowsIn<K extends OperationName>(answer: Answer<K>): Item<K>[] {
  return (answer as { items?: Item<K>[] }).items ?? []
}

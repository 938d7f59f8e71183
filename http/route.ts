import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingHttpHeaders } from 'node:http'
import type { z } from 'zod'
import type { Span } from '#runtime/tracing/tracing.ts'
import type { AccessLevel, Principal } from './access/principal.ts'

export type Method = 'get' | 'post' | 'patch' | 'delete'

/** What a handler gets: the caller and validated input. */
export interface RouteRequest<P = unknown, Q = unknown, B = unknown> {
  principal: Principal
  params: P
  query: Q
  body: B
  /** Names in lower case, as Node gives them. */
  headers: IncomingHttpHeaders
  /** Of a `traced` route, where traces are on. */
  span?: Span | undefined
  /** Reserves memory besides the body's, until the handler ends. Throws 503, or 413 when it can never fit. */
  reserveBodyBudget: (byteLength: number) => void
  /**
   * Reserves memory for the answer; throws 503. A write that answers over 256 KiB calls it before it writes.
   */
  reserveAnswerBudget: (byteLength: number) => void
}

export interface Reply {
  status?: number
  headers?: Readonly<Record<string, string>>
  json?: unknown
  /** Instead of `json`: JSON text, or a function that makes it. Neither: an empty answer (204). */
  jsonText?: string | (() => string)
  /** Instead of JSON: bytes of another type. */
  bytes?: { contentType: string; data: Buffer }
  /** Tag of the answer. A client that has it (`If-None-Match`) gets 304, and `jsonText` is not made. */
  etag?: string
  /** Instead of JSON: text that is streamed at the client's pace. */
  stream?: { contentType: string; chunks: AsyncIterable<string> }
}

/** A route as documented. Its zod schemas also validate. */
export interface RouteDescription {
  method: Method
  /** `/api/requests/{id}` */
  path: string
  access: AccessLevel
  summary: string
  tag: string
  params?: z.ZodObject
  query?: z.ZodObject
  body?: z.ZodType
  /**
   * Query parameters whose names the caller chooses, beside those of `query`: members of an object, spread
   * over the query.
   */
  openParameters?: readonly { name: string; description: string; schema: object; example: object }[]
  /** The answer on success. */
  reply: { status: number; description: string; schema?: z.ZodType; contentTypes?: readonly string[] }
  /** Further error answers, besides 401, 403, 422 and 503. */
  problems?: Readonly<Record<number, string>>
  /** Whether its requests are a part of Sluice's own traces. */
  traced?: boolean
  /** Whether answers carry an ETag. */
  polled?: boolean
  /** Larger bodies get 413. Default: `defaultBodyBytes`. */
  maxBodyBytes?: number
  /** The handler takes the raw bytes (`body: Buffer`); `body` only documents them. */
  rawBody?: boolean
}

export interface Route extends RouteDescription {
  handle: (request: RouteRequest) => Promise<Reply>
}

interface TypedRoute<
  P extends z.ZodObject,
  Q extends z.ZodObject,
  B extends z.ZodType,
> extends RouteDescription {
  params?: P
  query?: Q
  body?: B
  rawBody?: false
  handle: (request: RouteRequest<z.output<P>, z.output<Q>, z.output<B>>) => Promise<Reply>
}

/** A route whose handler's input has the types of its schemas. */
export function route<P extends z.ZodObject, Q extends z.ZodObject, B extends z.ZodType>(
  definition: TypedRoute<P, Q, B>,
): Route {
  // Sound: createApp passes exactly the output of these schemas.
  return definition as unknown as Route
}

/** A route whose handler parses the bytes itself. */
export function rawRoute(
  definition: RouteDescription & {
    handle: (request: RouteRequest<unknown, unknown, Buffer>) => Promise<Reply>
  },
): Route {
  return { ...definition, rawBody: true } as unknown as Route
}

/** The path of the route whose handler is running; slow statements are logged with it. */
export const currentRoute = new AsyncLocalStorage<string>()

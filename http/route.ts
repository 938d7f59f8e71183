import { AsyncLocalStorage } from 'node:async_hooks'
import type { IncomingHttpHeaders } from 'node:http'
import type { z } from 'zod'
import type { AccessLevel, Principal } from './access/principal.ts'

export type Method = 'get' | 'post' | 'patch' | 'delete'

/** What a handler is given: validated input and who asks. */
export interface RouteRequest<P = unknown, Q = unknown, B = unknown> {
  principal: Principal
  params: P
  query: Q
  body: B
  /** As Node has them: names in lower case. */
  headers: IncomingHttpHeaders
  /** Keeps room for so many bytes besides those of the body, until the handler is done; throws 503, and 413 when there never is so much. */
  reserveBodyBudget: (byteLength: number) => void
  /** Keeps room for an answer of so many bytes; throws 503 when there is none. Of a write that answers over 256 KiB: before it is done. */
  reserveAnswerBudget: (byteLength: number) => void
}

export interface Reply {
  status?: number
  headers?: Readonly<Record<string, string>>
  json?: unknown
  /** Instead of `json`: JSON text as it is, or what makes it. Neither: an empty answer (204). */
  jsonText?: string | (() => string)
  /** Of what is answered: whoever has it already (`If-None-Match`) gets 304, and `jsonText` is not made. */
  etag?: string
  /** Instead of JSON: text that is sent as it is made, no faster than the client takes it. */
  stream?: { contentType: string; chunks: AsyncIterable<string> }
}

/** What the documentation says of one route; its zod schemas are also what validates. */
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
  /** Parameters whose names callers choose, which `query` takes beside its own: an object whose members stand in the query by themselves. */
  openParameters?: readonly { name: string; description: string; schema: object; example: object }[]
  /** The answer when all is well. */
  reply: { status: number; description: string; schema?: z.ZodType; contentTypes?: readonly string[] }
  /** Further answers that a client must expect, besides 401, 403, 422 and 503. */
  problems?: Readonly<Record<number, string>>
  /** Answers carry an ETag. */
  polled?: boolean
  /** Bodies larger than this are 413. Default: `defaultBodyBytes`. */
  maxBodyBytes?: number
  /** The handler takes the bytes as they came (`body: Buffer`); `body` only documents them. */
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
  // Sound: createApp hands over exactly what these schemas gave.
  return definition as unknown as Route
}

/** A route whose handler reads the bytes itself. */
export function rawRoute(
  definition: RouteDescription & {
    handle: (request: RouteRequest<unknown, unknown, Buffer>) => Promise<Reply>
  },
): Route {
  return { ...definition, rawBody: true } as unknown as Route
}

/** The path of the route whose handler is running: the name of slow statements in the log. */
export const currentRoute = new AsyncLocalStorage<string>()

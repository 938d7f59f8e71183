import {
  OpenApiGeneratorV31,
  OpenAPIRegistry,
  type ResponseConfig,
  type RouteConfig,
} from '@asteasolutions/zod-to-openapi'
import { z } from 'zod'
import type { AccessLevel } from '#http/access/principal.ts'
import type { Route } from '#http/route.ts'
import { bodyExamples } from './body-examples.ts'

const problemSchema = z.object({
  detail: z.string().describe('The error in words.'),
  code: z.string().describe('The error code; docs/errors.md lists them.'),
})
const invalidSchema = problemSchema.extend({
  errors: z
    .array(z.object({ path: z.string(), message: z.string() }))
    .describe('The invalid fields, at most a hundred. An empty path is the whole input.'),
})

const invalidExample = {
  detail: 'limit: Too big: expected number to be <=200',
  code: 'INVALID_INPUT',
  errors: [{ path: 'limit', message: 'Too big: expected number to be <=200' }],
}

interface DocumentOptions {
  routes: readonly Route[]
  /** PUBLIC_BASE_URL. */
  baseUrl: string
  version: string
}

/** The OpenAPI 3.1 description, generated from the schemas that validate. */
export function describeApi({ routes, baseUrl, version }: DocumentOptions): object {
  const registry = new OpenAPIRegistry()
  registry.registerComponent('securitySchemes', 'serviceKey', {
    type: 'apiKey',
    in: 'header',
    name: 'X-Service-Key',
  })
  registry.registerComponent('securitySchemes', 'bearerKey', {
    type: 'http',
    scheme: 'bearer',
    description: 'An API key.',
  })
  registry.registerComponent('securitySchemes', 'operator', {
    type: 'http',
    scheme: 'bearer',
    description: 'INTERNAL_API_SECRET of the operator, who may name any project_id.',
  })
  for (const route of routes) registry.registerPath(describeRoute(route))
  return new OpenApiGeneratorV31(registry.definitions).generateDocument({
    openapi: '3.1.0',
    info: {
      title: 'Sluice',
      version,
      description:
        'Calls to large language models: recorded, scored for safety, reported. Times have a zone; a date alone is its start in UTC.',
    },
    servers: [{ url: baseUrl }],
  })
}

function describeRoute(route: Route): RouteConfig {
  return {
    method: route.method,
    path: route.path,
    operationId: operationIdOf(route),
    summary: route.summary,
    description: `${route.summary} ${callersOf[route.access]}`,
    tags: [route.tag],
    security: securityOf(route.access),
    ...(route.openParameters === undefined
      ? {}
      : {
          parameters: route.openParameters.map((open) => ({
            ...open,
            in: 'query',
            style: 'form',
            explode: true,
          })),
        }),
    request: {
      ...(route.params === undefined ? {} : { params: route.params }),
      ...(route.query === undefined ? {} : { query: route.query }),
      ...(route.body === undefined ? {} : { body: bodyOf(route, route.body) }),
    },
    responses: responsesOf(route),
  }
}

const callersOf: Readonly<Record<AccessLevel, string>> = {
  ingest: 'Needs a key of scope `ingest` or `all`; the operator names a project in `project_id`.',
  read: 'Needs a key of scope `read` or `all`; the operator names a project in `project_id`.',
  all: 'Needs a key of scope `all`; the operator names a project in `project_id`.',
  operator: 'For the operator alone.',
  public: 'Needs no key.',
}

/** `getApiRequestsById` */
function operationIdOf({ method, path }: Route): string {
  const words = path.split(/[^A-Za-z0-9{]+/).filter((word) => word !== '')
  return (
    method +
    words.map((word) => (word.startsWith('{') ? `By${capital(word.slice(1))}` : capital(word))).join('')
  )
}

function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

function bodyOf({ method, path }: Route, schema: z.ZodType) {
  const example = bodyExamples[`${method} ${path}`]
  const content = { 'application/json': { schema, ...(example === undefined ? {} : { example }) } }
  return { required: !schema.safeParse(undefined).success, content }
}

function securityOf(access: AccessLevel): Record<string, string[]>[] {
  if (access === 'public') return []
  const operator = { operator: [] }
  return access === 'operator' ? [operator] : [{ serviceKey: [] }, { bearerKey: [] }, operator]
}

/** A streamed answer has content types and no schema. */
function contentOf({ schema, contentTypes }: Route['reply']): Pick<ResponseConfig, 'content'> {
  if (schema === undefined && contentTypes === undefined) return {}
  const types = contentTypes ?? ['application/json']
  return { content: Object.fromEntries(types.map((type) => [type, { schema: schema ?? z.string() }])) }
}

function responsesOf({
  reply,
  problems = {},
  access,
  params,
  body,
  polled = false,
}: Route): RouteConfig['responses'] {
  const authentication: Record<number, string> =
    access === 'public'
      ? {}
      : { 401: 'No valid key.', 403: "The key may not do this, or the project is another's." }
  const unreadable = [
    ...(params === undefined ? [] : ['The path is not percent-encoded.']),
    ...(body === undefined ? [] : ['The body is not JSON, or not UTF-8.']),
  ]
  const ofBody: Record<number, string> =
    body === undefined
      ? {}
      : {
          413: 'The body is too large for this route.',
          415: 'Content-Encoding is not gzip, deflate or br.',
        }
  const described: Record<number, string> = {
    ...authentication,
    ...(unreadable.length === 0 ? {} : { 400: unreadable.join(' ') }),
    ...ofBody,
    503: 'Storage is unavailable; Retry-After says when to retry.',
    ...problems,
  }
  const responses: RouteConfig['responses'] = {
    [reply.status]: {
      description: reply.description,
      ...contentOf(reply),
    },
    ...(polled ? { 304: { description: 'Unchanged since the answer with the ETag in If-None-Match.' } } : {}),
    422: {
      description: 'The input is invalid.',
      content: { 'application/json': { schema: invalidSchema, example: invalidExample } },
    },
  }
  for (const [status, description] of Object.entries(described)) {
    const schema = status === '422' ? invalidSchema : problemSchema
    responses[status] = { description, content: { 'application/json': { schema } } }
  }
  return responses
}

import { OpenApiGeneratorV31, OpenAPIRegistry, type RouteConfig } from '@asteasolutions/zod-to-openapi'
import { z } from 'zod'
import type { AccessLevel } from '#services/ingest/access/principal.ts'
import type { Route } from '#services/ingest/http/route.ts'

const problemSchema = z.object({
  detail: z.string().describe('What is wrong, for people.'),
  code: z.string().describe('What is wrong, for programs: docs/errors.md lists them.'),
})
const invalidSchema = problemSchema.extend({
  errors: z.array(z.object({ path: z.string(), message: z.string() })).describe('Every field at fault.'),
})

interface DocumentOptions {
  routes: readonly Route[]
  /** PUBLIC_BASE_URL. */
  baseUrl: string
  version: string
}

/** The OpenAPI 3.1 description, made from the schemas that the routes validate by. */
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
    description: 'INTERNAL_API_SECRET: the operator, who may name any project_id.',
  })
  for (const route of routes) registry.registerPath(describeRoute(route))
  return new OpenApiGeneratorV31(registry.definitions).generateDocument({
    openapi: '3.1.0',
    info: {
      title: 'Sluice',
      version,
      description: 'Calls to large language models: recorded, scored for safety, reported.',
    },
    servers: [{ url: baseUrl }],
  })
}

function describeRoute(route: Route): RouteConfig {
  return {
    method: route.method,
    path: route.path,
    summary: route.summary,
    tags: [route.tag],
    security: securityOf(route.access),
    request: {
      ...(route.params === undefined ? {} : { params: route.params }),
      ...(route.query === undefined ? {} : { query: route.query }),
      ...(route.body === undefined
        ? {}
        : { body: { content: { 'application/json': { schema: route.body } } } }),
    },
    responses: responsesOf(route),
  }
}

function securityOf(access: AccessLevel): Record<string, string[]>[] {
  if (access === 'public') return []
  const operator = { operator: [] }
  return access === 'operator' ? [operator] : [{ serviceKey: [] }, { bearerKey: [] }, operator]
}

function responsesOf({ reply, problems = {}, access, polled = false }: Route): RouteConfig['responses'] {
  const authentication: Record<number, string> =
    access === 'public'
      ? {}
      : { 401: 'No valid key.', 403: "The key may not do this, or the project is another's." }
  const described: Record<number, string> = {
    ...authentication,
    ...problems,
    503: 'Storage is away; Retry-After says when to come back.',
  }
  const responses: RouteConfig['responses'] = {
    [reply.status]: {
      description: reply.description,
      ...(reply.schema === undefined
        ? {}
        : { content: { [reply.contentType ?? 'application/json']: { schema: reply.schema } } }),
    },
    ...(polled
      ? { 304: { description: 'Nothing has changed since the answer whose ETag is in If-None-Match.' } }
      : {}),
    422: { description: 'The input is invalid.', content: { 'application/json': { schema: invalidSchema } } },
  }
  for (const [status, description] of Object.entries(described)) {
    responses[status] = { description, content: { 'application/json': { schema: problemSchema } } }
  }
  return responses
}

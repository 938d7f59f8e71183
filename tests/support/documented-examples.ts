import type { Connection } from '#scripts/stack/connection.ts'

interface Operation {
  security: object[]
  requestBody?: { content: Record<string, { example?: unknown }> }
  responses: Record<string, unknown>
}

/** How a running system answered one example of /docs. */
export interface ExampleAnswer {
  name: string
  status: number
  isDocumented: boolean
  /** Whether every identifier in its path exists. */
  isReal: boolean
  text: string
}

/** Examples that cannot succeed on their own, with their status. */
export const refusedExamples: Readonly<Record<string, number>> = {
  'post /internal/keys/resolve': 404,
  'post /internal/keys/lease': 404,
  // No user has that password, and no user is signed in.
  'post /internal/people/sign-in': 401,
  'get /api/me': 403,
  'get /api/me/logins': 403,
  'get /api/me/views': 403,
  'post /api/me/views': 403,
  'post /api/me/password': 403,
  'post /api/me/sign-out': 403,
  'post /api/reviews': 404,
}

/** An invalid identifier. Routes answer 404 or 422. */
const noId = 'nothing_00000000000000000000000000'

/**
 * Sends every example of /openapi.json as printed, with identifiers from earlier answers. Creations come
 * first, deletions last.
 */
export async function sendExamples(connection: Connection, requestId: string): Promise<ExampleAnswer[]> {
  const { base_url: base, project_id: project } = connection
  const ids: Record<string, string> = {
    '/api/requests/{id}': requestId,
    '/api/projects/{id}': project,
    // By name, unlike the others under that path.
    '{name}': 'pii_detection',
  }
  const document = (await (await fetch(`${base}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, Operation>>
  }
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  )
  const answers: ExampleAnswer[] = []
  for (const { path, method, operation } of operations.toSorted((a, b) => turnOf(a) - turnOf(b))) {
    const real = realPath(path, ids)
    const response = await fetch(base + (real ?? path.replace(/\{\w+\}/g, noId)), {
      method: method.toUpperCase(),
      ...contentOf(operation),
      headers: {
        authorization: `Bearer ${secretOf(operation, connection)}`,
        ...contentOf(operation).headers,
      },
    })
    const text = await response.text()
    const made = idIn(text)
    if (method === 'post' && response.ok && made !== undefined) ids[`${path}/{id}`] ??= made
    answers.push({
      name: `${method} ${path}`,
      status: response.status,
      isDocumented: String(response.status) in operation.responses,
      isReal: real !== undefined,
      text,
    })
  }
  return answers
}

function turnOf({ path, method }: { path: string; method: string }): number {
  if (method === 'delete') return 2
  return method === 'post' && !path.includes('{') ? 0 : 1
}

/**
 * The path with known identifiers, which are keyed by the path to them (`/api/projects/{id}/keys/{id}`).
 * Undefined if one is unknown.
 */
function realPath(path: string, ids: Readonly<Record<string, string>>): string | undefined {
  let [known, real] = ['', '']
  for (const part of path.split('/').slice(1)) {
    known += part.startsWith('{') ? '/{id}' : `/${part}`
    const value = part.startsWith('{') ? (ids[part] ?? ids[known]) : part
    if (value === undefined) return undefined
    real += `/${encodeURIComponent(value)}`
  }
  return real
}

function secretOf({ security }: Operation, connection: Connection): string {
  const isOperators = security.length > 0 && security.every((scheme) => 'operator' in scheme)
  return isOperators ? connection.internal_api_secret : connection.api_key
}

function contentOf({ requestBody }: Operation): { body?: string; headers?: Record<string, string> } {
  const example = requestBody?.content['application/json']?.example
  if (example === undefined) return {}
  return { body: JSON.stringify(example), headers: { 'content-type': 'application/json' } }
}

function idIn(text: string): string | undefined {
  try {
    const { id } = JSON.parse(text) as { id?: unknown }
    return typeof id === 'string' ? id : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

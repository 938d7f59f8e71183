import fc from 'fast-check'

export interface FuzzedOperation {
  parameters?: { name: string; in: string }[]
  requestBody?: { content: Record<string, { example?: unknown }> }
}

interface FuzzedRoute {
  path: string
  /** With identifiers that exist. */
  realPath: string
  method: string
  operation: FuzzedOperation
  ids: readonly string[]
}

/** JSON, and invalid JSON as clients send it. */
const anyText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.constantFrom(
    '',
    '\u0000',
    '\ud800',
    "'; drop table projects; --",
    '-1',
    '1e309',
    '9007199254740993',
    'null',
    '[object Object]',
  ),
  fc.constantFrom(
    '2026-11-21',
    '2026-13-45T99:99:99Z',
    '0001-01-01',
    '+275760-09-13T00:00:00Z',
    '9999-12-31T23:59:59.999Z',
  ),
  fc.constantFrom('__proto__', 'constructor', 'toString'),
)
const anyBody = fc.oneof(
  { weight: 3, arbitrary: fc.json({ maxDepth: 4 }) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 64 }).map((bytes) => Buffer.from(bytes)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('{"__proto__":{"a":1}}', '['.repeat(5_000), '{"a":1e400}', '"\\ud800"', ''),
  },
)

/** A valid body with one member replaced. */
const changed = (example: unknown) =>
  fc
    .tuple(
      fc.constantFrom(...Object.keys(Object(example) as object), 'project_id', 'unknown'),
      fc.jsonValue({ maxDepth: 3 }),
    )
    .map(([member, value]) => JSON.stringify({ ...(example as object), [member]: value }))

/**
 * Requests to one operation: real and invented identifiers, known and unknown parameters, bodies near the
 * example and far from JSON.
 */
export function fuzzedRequests({ path, realPath, method, operation, ids }: FuzzedRoute) {
  const example = operation.requestBody?.content['application/json']?.example
  const names = (operation.parameters ?? [])
    .filter((parameter) => parameter.in === 'query')
    .map(({ name }) => name)
  const nameOf = fc.constantFrom(...names, 'metadata.x', 'metadata.', 'unknown')
  // One unknown parameter is enough for a refusal; most requests should get further.
  const maxParameters = names.length === 0 ? 1 : 4
  return fc.record({
    path: fc.oneof(
      fc.constant(realPath),
      anyText.map((text) => path.replace(/\{\w+\}/g, encodeURIComponent(text.toWellFormed()) || 'x')),
    ),
    query: fc.array(fc.tuple(nameOf, fc.oneof(anyText, fc.nat().map(String), fc.constantFrom(...ids))), {
      maxLength: maxParameters,
    }),
    body:
      method === 'get'
        ? fc.constant(undefined)
        : fc.oneof(
            anyBody,
            ...(example === undefined ? [] : [changed(example), fc.constant(JSON.stringify(example))]),
          ),
    operator: fc.boolean(),
  })
}

interface JsonSchema {
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  anyOf?: JsonSchema[]
  oneOf?: JsonSchema[]
  allOf?: JsonSchema[]
  properties?: Record<string, JsonSchema>
  required?: string[]
  additionalProperties?: boolean | JsonSchema
  items?: JsonSchema
}

type Content = Record<string, { schema?: JsonSchema }>
interface Operation {
  parameters?: { in: string; name: string; required?: boolean; schema: JsonSchema }[]
  requestBody?: { required?: boolean; content: Content }
  responses: Record<string, { content?: Content }>
}

/**
 * TypeScript types of all operations of an OpenAPI document with inline schemas. The dashboard is checked
 * against them.
 */
export function writeApiTypes(document: Record<string, unknown>): string {
  const paths = document['paths'] as Record<string, Record<string, Operation>>
  const operations = Object.entries(paths)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(
        ([method, operation]) => `  '${method.toUpperCase()} ${path}': ${typeOfOperation(operation)}`,
      ),
    )
  return `// Made from /openapi.json: UPDATE_DOCS=1 with services/api/openapi.integration.test.ts rewrites it.\n\nexport interface Operations {\n${operations.join('\n')}\n}\n`
}

function typeOfOperation({ parameters = [], requestBody, responses }: Operation): string {
  const of = (place: string) =>
    typeOf({
      type: 'object',
      properties: Object.fromEntries(
        parameters
          .filter((each) => each.in === place && each.schema.type !== 'object')
          .map(({ name, schema }) => [name, asText(schema)]),
      ),
      required: parameters
        .filter((each) => each.in === place && each.required === true)
        .map(({ name }) => name),
    })
  const [, answer] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? []
  const body = requestBody?.content['application/json']?.schema
  return `{ params: ${of('path')}; query: ${of('query')}; body: ${body === undefined ? 'undefined' : typeOf(body)}; answer: ${typeOf((answer?.content?.['application/json'] ?? answer?.content?.['application/x-ndjson'])?.schema ?? {})} }`
}

/** Query parameters are text in a URL, whatever they are parsed as. Those with free names are left out. */
function asText(schema: JsonSchema): JsonSchema {
  return schema.enum === undefined ? { type: 'string' } : schema
}

function typeOf(schema: JsonSchema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum !== undefined) return union(schema.enum.map((value) => JSON.stringify(value)))
  const either = schema.anyOf ?? schema.oneOf
  if (either !== undefined) return union(either.map(typeOf))
  if (schema.allOf !== undefined) return schema.allOf.map((each) => `(${typeOf(each)})`).join(' & ')
  if (Array.isArray(schema.type)) return union(schema.type.map((type) => typeOf({ ...schema, type })))
  switch (schema.type) {
    case 'string':
    case 'boolean':
    case 'null':
      return schema.type
    case 'integer':
    case 'number':
      return 'number'
    case 'array':
      return `(${typeOf(schema.items ?? {})})[]`
    case 'object':
      return typeOfObject(schema)
    case undefined:
    default:
      return 'unknown'
  }
}

function typeOfObject({ properties = {}, required = [], additionalProperties }: JsonSchema): string {
  const names = Object.entries(properties)
  if (names.length === 0 && additionalProperties !== undefined && additionalProperties !== false)
    return `Record<string, ${additionalProperties === true ? 'unknown' : typeOf(additionalProperties)}>`
  const fields = names.map(
    ([name, schema]) =>
      `${/^\w+$/.test(name) ? name : JSON.stringify(name)}${required.includes(name) ? '' : '?'}: ${typeOf(schema)}${required.includes(name) ? '' : ' | undefined'}`,
  )
  return fields.length === 0 ? 'Record<never, never>' : `{ ${fields.join('; ')} }`
}

function union(types: readonly string[]): string {
  return [...new Set(types)].join(' | ') || 'never'
}

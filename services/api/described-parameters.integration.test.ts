import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { startApi, type RunningApi } from '#tests/support/start-api.ts'

interface Schema {
  type?: string | string[]
  format?: string
  minimum?: number
  maximum?: number
  properties?: Record<string, Schema>
}
interface Parameter {
  in: string
  name: string
  style?: string
  explode?: boolean
  schema: Schema
}
interface Operation {
  parameters?: Parameter[]
  requestBody?: { content: Record<string, { schema: Schema }> }
}

let api: RunningApi
let key: string
let projectId: string
let operations: { name: string; path: string; operation: Operation; parameters: Parameter[] }[]

beforeAll(async () => {
  api = await startApi()
  ;({ key, projectId } = await api.createProject())
  const { json } = await api.call('GET', '/openapi.json')
  operations = Object.entries(json['paths'] as Record<string, Record<string, Operation>>).flatMap(
    ([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        ...{ name: `${method} ${path}`, path, operation },
        parameters: (operation.parameters ?? []).filter((parameter) => parameter.in === 'query'),
      })),
  )
})

afterAll(() => api.stop())

test('numbers of queries are described as what they are, with the bounds that are kept', async () => {
  const counts = new Set(['page', 'page_size', 'limit', 'after'])
  let checked = 0
  for (const { name, path, parameters } of operations) {
    for (const { name: parameter, schema } of parameters) {
      if (!counts.has(parameter) && parameter !== 'min_score') continue
      const type = counts.has(parameter) ? 'integer' : 'number'
      expect([name, parameter, schema]).toEqual([
        ...[name, parameter],
        expect.objectContaining({ type, minimum: expect.any(Number), maximum: expect.any(Number) }),
      ])
      if (!name.startsWith('get ') || path.includes('{')) continue
      const errorsAt = async (value: number) => {
        const query = `${path}?${parameter}=${value}&project_id=${projectId}`
        const { json } = await api.call('GET', query, { operator: true })
        const errors = (json['errors'] ?? []) as { path: string }[]
        return errors.filter((error) => error.path === parameter).length
      }
      const { minimum = 0, maximum = 0 } = schema
      // Whether a page is too deep depends on page_size: of one row, the last page exists.
      const ends = parameter === 'page' ? [minimum] : [minimum, maximum]
      for (const value of ends)
        expect([name, parameter, value, await errorsAt(value)]).toEqual([name, parameter, value, 0])
      for (const value of [minimum - 1, maximum + 1])
        expect([name, parameter, value, await errorsAt(value)]).toEqual([name, parameter, value, 1])
      checked++
    }
  }
  expect(checked).toBeGreaterThan(20)
})

test('times are described as such', () => {
  const times = operations.flatMap(({ parameters }) =>
    parameters.filter(({ name }) => ['start', 'end'].includes(name)).map(({ schema }) => schema),
  )
  expect(times.length).toBeGreaterThan(20)
  for (const schema of times) expect(schema).toMatchObject({ type: 'string', format: 'date-time' })
})

test('filters by metadata, whose names callers choose, are described where they are taken', async () => {
  const described = operations.flatMap(({ name, parameters }) =>
    parameters
      .filter((parameter) => parameter.name.startsWith('metadata.'))
      .map((parameter) => ({ name, parameter })),
  )
  expect(described.map(({ name }) => name).sort()).toEqual([
    'get /api/requests',
    'get /api/requests/export',
    'get /api/requests/facets',
    'post /api/requests/search',
  ])
  for (const { parameter } of described) {
    // The members of an exploded object are query parameters of their own.
    expect(parameter).toMatchObject({ style: 'form', explode: true, schema: { type: 'object' } })
  }
  for (const { path, parameters } of operations.filter(
    ({ name }) => name.startsWith('get /api/') && !name.includes('{'),
  )) {
    const takes = parameters.some(({ name }) => name.startsWith('metadata'))
    const { json } = await api.call('GET', `${path}?metadata.team=a&limit=0`, { operator: true })
    const isKnown = !JSON.stringify(json['errors'] ?? []).includes('metadata.team')
    expect([path, isKnown]).toEqual([path, takes])
  }
})

test('what may be null in a record is described so', async () => {
  const { operation } = operations.find(({ name }) => name === 'post /internal/log') ?? {}
  const { properties = {} } = operation?.requestBody?.content['application/json']?.schema ?? {}
  for (const [name, { type = [] }] of Object.entries(properties)) {
    const body = { request_body: {}, [name]: null }
    const { status } = await api.call('POST', '/internal/log', { key, body })
    expect([name, [type].flat().includes('null')]).toEqual([name, status === 202])
  }
})

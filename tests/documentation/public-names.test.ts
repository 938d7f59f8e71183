import { appendFileSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { services, type ServiceDefinition } from '#schemas/services.ts'
import { avroSchemas, topics } from '#schemas/topics.ts'
import { declaredMetrics } from '../support/declared-metrics.ts'

const root = join(import.meta.dirname, '..', '..')
const listed = join(import.meta.dirname, 'public-names.txt')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const matches = (path: string, pattern: RegExp) => [...read(path).matchAll(pattern)].map(([, name]) => name)

/** Names that clients, operators and other systems use, prefixed by their kind. */
function namesOfToday(): Set<string> {
  const kinds: Record<string, readonly (string | undefined)[]> = {
    topic: Object.values(topics).map(({ name }) => name),
    avro: Object.values(avroSchemas).flatMap(namesInAvro),
    metric: [...declaredMetrics().keys()],
    variable: matches('docs/configuration.md', /^\| `([A-Z0-9_]+)` \|/gm),
    error: matches('docs/errors.md', /^\| `([A-Z0-9_]+)` \|/gm),
    route: matches('services/dashboard/client/api/operations.d.ts', /^ {2}'([A-Z]+ [^']+)': \{$/gm),
    field: matches('services/dashboard/client/api/operations.d.ts', /^\s+'?([\w.<>-]+)'?\??:(?: |$)/gm),
    'database role': matches('infra/guards.txt', /\b(sluice_\w+)\b/g),
    group: Object.values<ServiceDefinition>(services).flatMap(({ kafka }) => [
      ...Object.keys(kafka?.groups ?? {}),
      ...(kafka?.temporaryGroups === undefined ? [] : [kafka.temporaryGroups]),
    ]),
    script: globSync('scripts/*', { cwd: root }).filter((path) => !path.includes('.')),
    flag: globSync('scripts/**/*.ts', { cwd: root })
      .filter((path) => !path.endsWith('.test.ts') && !path.startsWith('scripts/skeleton/'))
      .flatMap((path) => matches(path, /(?<=[\s[|])(--[a-z][a-z-]+)/g).map((flag) => `${path} ${flag}`)),
    file: [
      ...globSync('services/*/main.ts', { cwd: root }),
      ...['describe-call', 'price-table', 'call-cost', 'decode-content', 'streams/assemble-stream'].map(
        (name) => `capture/${name}.ts`,
      ),
    ],
  }
  return new Set(
    Object.entries(kinds).flatMap(([kind, names]) => names.map((name) => `${kind} ${String(name)}`)),
  )
}

function namesInAvro(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(namesInAvro)
  if (typeof schema !== 'object' || schema === null) return []
  const { name, fields, type, items } = schema as Record<string, unknown>
  const own = typeof name === 'string' ? [name] : []
  return [...own, ...[fields, type, items].flatMap(namesInAvro)]
}

test('no name that clients use is gone; new ones are listed with UPDATE_DOCS=1', () => {
  const today = namesOfToday()
  const known = new Set(readFileSync(listed, 'utf8').split('\n').filter(Boolean))
  const added = [...today].filter((name) => !known.has(name)).sort()
  if (process.env['UPDATE_DOCS'] === '1') appendFileSync(listed, added.map((name) => `${name}\n`).join(''))
  else expect(added).toEqual([])
  expect([...known].filter((name) => !today.has(name))).toEqual([])
  for (const path of [...known].filter((name) => name.startsWith('file ')))
    expect(() => read(path.slice('file '.length))).not.toThrow()
})

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import avro from 'avsc'
import fc from 'fast-check'
import { avroSchemas, type SchemaName } from './topics.ts'

/**
 * Old records must stay readable: topics keep days of them, replay reads them, and consumers are deployed
 * before or after producers. Never repair a failure in schemas/released or schemas/fixtures: give the new
 * field a default.
 */
const names = Object.keys(avroSchemas) as SchemaName[]
const released = readdirSync(join(import.meta.dirname, 'released')).map((file) => {
  const [name = '', version = ''] = file.split('.')
  const schema = JSON.parse(read('released', file).toString()) as avro.Schema
  return { label: `${name} ${version}`, name: name as SchemaName, version, schema }
})

function read(folder: string, file: string): Buffer {
  return readFileSync(join(import.meta.dirname, folder, file))
}

function currentType(name: SchemaName): avro.Type {
  return avro.Type.forSchema(avroSchemas[name] as avro.Schema)
}

describe('released schemas', () => {
  test.each(released)('$label: what was written with it is read by the present schema', (old) => {
    const bytes = read('fixtures', `${old.name}.${old.version}.avro`)
    const writer = avro.Type.forSchema(old.schema)
    const written = writer.fromBuffer(bytes) as object
    const reader = currentType(old.name)
    const understood = reader.fromBuffer(bytes, reader.createResolver(writer)) as object
    expect(understood).toMatchObject(plain(written))
  })

  test.each(released)(
    '$label: the present schema reads whatever it can write (BACKWARD_TRANSITIVE)',
    (old) => {
      expect(incompatibility(old.schema, avroSchemas[old.name] as avro.Schema)).toBeUndefined()
    },
  )

  test.each(names)('%s: the present schema is released (node scripts/release-schemas.ts)', (name) => {
    const versions = released.filter((old) => old.name === name).map(({ schema }) => schema)
    expect(versions).toContainEqual(JSON.parse(JSON.stringify(avroSchemas[name])))
  })
})

describe('the compatibility check', () => {
  const field = (name: string, type: unknown, rest: object = {}) => ({ name, type, ...rest })
  const record = (...fields: object[]) => ({ type: 'record', name: 'Call', fields }) as unknown as avro.Schema
  const id = field('id', 'string')
  const old = record(id, field('model', ['null', 'string'], { default: null }), field('tokens', 'long'))

  test.each([
    ['a new field with a default', record(id, field('tokens', 'long'), field('more', 'int', { default: 0 }))],
    ['a removed field', record(id)],
    ['a type that holds the old one', record(id, field('tokens', 'double'))],
  ])('allows %s', (_name, changed) => {
    expect(incompatibility(old, changed)).toBeUndefined()
  })

  test.each([
    ['a new field without a default', record(id, field('more', 'int'))],
    ['another name', record(field('identifier', 'string'))],
    ['a narrower type', record(id, field('tokens', 'int'))],
    ['another type in a union', record(id, field('model', ['null', 'long'], { default: null }))],
    ['null no longer allowed', record(id, field('model', 'string'))],
  ])('finds %s', (_name, changed) => {
    expect(incompatibility(old, changed)).toBeDefined()
  })
})

describe('present schemas', () => {
  test.each(names)('%s: any value comes back as it was', (name) => {
    const type = currentType(name)
    const schema = JSON.parse(JSON.stringify(avroSchemas[name])) as SchemaNode
    fc.assert(
      fc.property(valuesOf(schema, new Map()), (value) => {
        expect(plain(type.fromBuffer(type.toBuffer(value)) as object)).toEqual(value)
      }),
      { numRuns: 100 },
    )
  })

  test.each(names)('%s: everything that is absent in older records has a default', (name) => {
    const { fields } = avroSchemas[name] as { fields: { type: unknown; default?: unknown }[] }
    const optional = fields.filter(({ type }) => Array.isArray(type))
    expect(optional.every((candidate) => candidate.default === null)).toBe(true)
  })
})

/** Why a reader with `reader` cannot read what `writer` wrote; undefined when it can. */
function incompatibility(writer: avro.Schema, reader: avro.Schema): string | undefined {
  try {
    avro.Type.forSchema(reader).createResolver(avro.Type.forSchema(writer))
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

/** Without the classes of the decoder's records. */
function plain(value: object): object {
  return withoutClasses(value) as object
}

function withoutClasses(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutClasses)
  if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, withoutClasses(part)]))
}

type SchemaNode =
  | string
  | SchemaNode[]
  | { type: 'record'; name: string; namespace?: string; fields: { name: string; type: SchemaNode }[] }
  | { type: 'array'; items: SchemaNode }
  | { type: 'fixed'; name: string; size: number }

/** Values of a schema; named records are remembered, because later fields refer to them by name. */
function valuesOf(node: SchemaNode, named: Map<string, fc.Arbitrary<unknown>>): fc.Arbitrary<unknown> {
  if (Array.isArray(node)) return fc.oneof(...node.map((branch) => valuesOf(branch, named)))
  if (typeof node === 'string') return primitives[node] ?? named.get(node) ?? fail(node)
  if (node.type === 'array') return fc.array(valuesOf(node.items, named), { maxLength: 4 })
  if (node.type === 'fixed')
    return fc.uint8Array({ minLength: node.size, maxLength: node.size }).map((bytes) => Buffer.from(bytes))
  const fields = node.fields.map(({ name, type }) => [name, valuesOf(type, named)] as const)
  const values = fc.record(Object.fromEntries(fields), { noNullPrototype: true })
  named.set(`sluice.${node.name}`, values)
  return values
}

const primitives: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  null: fc.constant(null),
  boolean: fc.boolean(),
  int: fc.integer(),
  // avsc writes larger numbers wrongly; runtime/kafka/avro-type.ts refuses them.
  long: fc.integer({ min: -(2 ** 52), max: 2 ** 52 }),
  double: fc.double({ noNaN: true }),
  string: fc.string({ unit: 'grapheme' }),
  bytes: fc.uint8Array().map((bytes) => Buffer.from(bytes)),
}

function fail(name: string): never {
  throw new Error(`no values for the type ${name}`)
}

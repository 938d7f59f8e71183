import avro from 'avsc'

/** Beyond this avsc silently writes another number: its zigzag encoding keeps what a double holds. */
const maxLong = 2 ** 52

/** Avro longs that survive a round trip; others are refused. */
class ExactLong extends avro.types.LogicalType {
  protected override _fromValue(value: unknown): unknown {
    return value
  }

  protected override _toValue(value: unknown): unknown {
    return typeof value === 'number' && Math.abs(value) <= maxLong ? value : undefined
  }

  protected override _resolve(type: avro.Type): ((value: unknown) => unknown) | undefined {
    return avro.Type.isType(type, 'long', 'int') ? (value) => value : undefined
  }
}

/** The type of one of our schemas. Refuses to write what would not be read back. */
export function avroType(schema: object): avro.Type {
  return avro.Type.forSchema(schema as avro.Schema, {
    typeHook: (part) =>
      part === 'long' ? new ExactLong({ type: 'long', logicalType: 'exact-long' }) : undefined,
  })
}

/** The type of another writer's schema. Its defaults and our limits do not matter. */
export function writerType(schema: object): avro.Type {
  return avro.Type.forSchema(schema as avro.Schema)
}

/** Field paths that do not fit the schema, such as `scores.0.severity`. */
export function misfits(type: avro.Type, value: unknown): string[] {
  const paths: string[] = []
  type.isValid(value, { errorHook: (path) => void paths.push(path.join('.')) })
  return paths
}

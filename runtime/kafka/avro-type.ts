import avro from 'avsc'

/** avsc writes a long beyond this as another number (its zigzag leaves what a double holds), without a word. */
const maxLong = 2 ** 52

/** The longs of Avro that come back as they were; others are refused. */
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

/** The type of a schema of ours, which refuses to write what would not be read back. */
export function avroType(schema: object): avro.Type {
  return avro.Type.forSchema(schema as avro.Schema, {
    typeHook: (part) =>
      part === 'long' ? new ExactLong({ type: 'long', logicalType: 'exact-long' }) : undefined,
  })
}

/** The type of a schema that somebody else wrote with: its defaults and our limits do not matter. */
export function writerType(schema: object): avro.Type {
  return avro.Type.forSchema(schema as avro.Schema)
}

/** What does not fit its schema, as field paths: `scores.0.severity`. */
export function misfits(type: avro.Type, value: unknown): string[] {
  const paths: string[] = []
  type.isValid(value, { errorHook: (path) => void paths.push(path.join('.')) })
  return paths
}

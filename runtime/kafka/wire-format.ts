/**
 * A value's prefix in a topic: a zero byte and the schema's id in the registry (four bytes, big endian),
 * before the Avro bytes.
 */
export const wirePrefixBytes = 5

export function writeWirePrefix(target: Buffer, schemaId: number): void {
  target.writeUInt8(0, 0)
  target.writeInt32BE(schemaId, 1)
}

/** The schema's id; undefined where the bytes do not begin as ours do. */
export function readSchemaId(value: Buffer): number | undefined {
  return value.length >= wirePrefixBytes && value.readUInt8(0) === 0 ? value.readInt32BE(1) : undefined
}

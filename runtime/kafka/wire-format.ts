/**
 * How a value in a topic names its schema: a zero byte, the schema's id in the registry (four bytes, big endian), then
 * the Avro bytes.
 */
export const wirePrefixBytes = 5

export function writeWirePrefix(target: Buffer, schemaId: number): void {
  target.writeUInt8(0, 0)
  target.writeInt32BE(schemaId, 1)
}

/** The schema's id, or undefined where the bytes do not start like a value of ours. */
export function readSchemaId(value: Buffer): number | undefined {
  return value.length >= wirePrefixBytes && value.readUInt8(0) === 0 ? value.readInt32BE(1) : undefined
}

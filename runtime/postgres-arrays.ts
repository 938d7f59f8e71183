/** JavaScript values of array elements: `uuid` as its 16 bytes, `timestamptz` as Unix milliseconds. */
export interface ArrayValues {
  uuid: Buffer
  text: string
  int4: number
  float8: number
  timestamptz: number
  bool: boolean
  bytea: Buffer
}
export type ArrayType = keyof ArrayValues

interface Form<T> {
  /** Postgres's type number of an element. */
  oid: number
  /** Upper bound for the bytes that `write` writes, without the length field. */
  maxBytes: (value: T) => number
  /** Returns the number of bytes written. */
  write: (target: Buffer, value: T, at: number) => number
}

/** Postgres counts time from 2000-01-01T00:00:00Z. */
const postgresEpochMs = 946_684_800_000
const headerBytes = 20
/** The size of an empty array, which has no length and no first subscript. */
const emptyBytes = 12
const firstSubscript = 1
const lengthBytes = 4

const forms: { readonly [T in ArrayType]: Form<ArrayValues[T]> } = {
  uuid: { oid: 2950, maxBytes: () => 16, write: (target, value, at) => value.copy(target, at) },
  text: {
    oid: 25,
    maxBytes: (value) => value.length * 3,
    write: (target, value, at) => target.write(value, at, 'utf8'),
  },
  int4: { oid: 23, maxBytes: () => 4, write: (target, value, at) => target.writeInt32BE(value, at) - at },
  float8: {
    oid: 701,
    maxBytes: () => 8,
    write: (target, value, at) => target.writeDoubleBE(value, at) - at,
  },
  timestamptz: {
    oid: 1184,
    maxBytes: () => 8,
    write: (target, value, at) => target.writeBigInt64BE(BigInt(value - postgresEpochMs) * 1_000n, at) - at,
  },
  bool: {
    oid: 16,
    maxBytes: () => 1,
    write: (target, value, at) => target.writeUInt8(value ? 1 : 0, at) - at,
  },
  bytea: { oid: 17, maxBytes: ({ length }) => length, write: (target, value, at) => value.copy(target, at) },
}

/**
 * `read` of each row as a parameter in Postgres's binary array format, which pg passes through. As text each
 * element would be escaped and parsed again, and bytes would travel as hexadecimal digits.
 */
export function postgresArray<T extends ArrayType, Row>(
  type: T,
  rows: readonly Row[],
  read: (row: Row) => ArrayValues[T] | null,
): Buffer {
  const form: Form<ArrayValues[T]> = forms[type]
  const values = rows.map(read)
  let maxBytes = headerBytes + lengthBytes * values.length
  for (const value of values) if (value !== null) maxBytes += form.maxBytes(value)
  const target = Buffer.allocUnsafe(maxBytes)
  let at = headerBytes
  for (const value of values) {
    const valueAt = at + lengthBytes
    const length = value === null ? -1 : form.write(target, value, valueAt)
    target.writeInt32BE(length, at)
    at = valueAt + Math.max(0, length)
  }
  const dimensions = values.length === 0 ? 0 : 1
  const header = [dimensions, values.includes(null) ? 1 : 0, form.oid, values.length, firstSubscript]
  header.forEach((field, index) => target.writeInt32BE(field, index * 4))
  return target.subarray(0, dimensions === 0 ? emptyBytes : at)
}

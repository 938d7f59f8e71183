/** What an array holds, as it is given here; `uuid` as its 16 bytes, `timestamptz` as Unix milliseconds. */
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
  /** Postgres's number of the type of an element. */
  oid: number
  /** Of a value without its length; no less than what `write` writes. */
  maxBytes: (value: T) => number
  /** Returns how many bytes it wrote. */
  write: (target: Buffer, value: T, at: number) => number
}

/** Postgres counts time from 2000-01-01T00:00:00Z. */
const postgresEpochMs = 946_684_800_000
const headerBytes = 20
/** An array without elements has no length and no first subscript. */
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
 * What `read` finds in each of `rows`, as a parameter in the binary form of a Postgres array, which pg passes on as it is: as text each
 * element is escaped here and read again there, and bytes go as hexadecimal digits.
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

import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ClientBase } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { PermanentError } from '#runtime/errors.ts'

/** How a value is written: `uuid` as hex with dashes, `timestamptz` as Unix milliseconds, `jsonb` as text. */
interface CopyValues {
  uuid: string
  text: string
  jsonb: string
  int4: number
  int8: number | bigint
  float8: number
  timestamptz: number
  bool: boolean
  bytea: Buffer
}
export type CopyType = keyof CopyValues

/** One column of a COPY: its name, its Postgres type and where a row has its value. */
export type CopyColumn<Row> = {
  [T in CopyType]: { name: string; type: T; value: (row: Row) => CopyValues[T] | null }
}[CopyType]

/**
 * Copies rows into `table` within the transaction of `client`, in Postgres's binary format: no escaping, and
 * no hexadecimal text of twice the size for bodies. Throws PermanentError (`UNSTORABLE`) for a value that its
 * column cannot hold.
 */
export async function copyRows<Row>(
  client: ClientBase,
  table: string,
  columns: readonly CopyColumn<Row>[],
  rows: Iterable<Row>,
): Promise<void> {
  const names = columns.map(({ name }) => name).join(', ')
  const copy = client.query(copyFrom(`copy ${table} (${names}) from stdin (format binary)`))
  await pipeline(Readable.from(encodeRows(columns, rows), { objectMode: false }), copy)
}

const signature = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1')
const trailer = Buffer.from([0xff, 0xff])
const chunkBytes = 64 * 1024
/** Bytes at least this long are passed on rather than copied once more. */
const passOnBytes = 16 * 1024
const shortTextBytes = 4 * 1024
/** Postgres counts time from 2000-01-01T00:00:00Z. */
const postgresEpochMs = 946_684_800_000

/** The bytes of a binary COPY, in chunks of about 64 KiB. */
export function* encodeRows<Row>(
  columns: readonly CopyColumn<Row>[],
  rows: Iterable<Row>,
): Generator<Buffer> {
  yield signature
  const writer = createChunkWriter()
  for (const row of rows) {
    writer.reserve(2)
    writer.int16(columns.length)
    for (const column of columns) writeField(writer, column, row)
    yield* writer.takeFull()
  }
  yield* writer.takeAll()
  yield trailer
}

type ChunkWriter = ReturnType<typeof createChunkWriter>

function writeField<Row>(writer: ChunkWriter, column: CopyColumn<Row>, row: Row): void {
  const value = column.value(row)
  writer.reserve(20)
  if (value === null) {
    writer.int32(-1)
    return
  }
  try {
    writeValue(writer, column.type, value)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new PermanentError('UNSTORABLE', `${column.name} does not fit its column: ${error.message}`, {
      cause: error,
    })
  }
}

/**
 * The column's type ties `type` and `value` together, which a switch over `type` cannot show the compiler.
 */
function writeValue(writer: ChunkWriter, type: CopyType, value: CopyValues[CopyType]): void {
  switch (type) {
    case 'text':
      writer.text(value as string)
      return
    case 'jsonb':
      writer.text(`\u0001${value as string}`)
      return
    case 'bytea':
      writer.sized(value as Buffer)
      return
    case 'uuid':
      writer.uuid(value as string)
      return
    case 'bool':
      writer.int32(1)
      writer.byte(value === true ? 1 : 0)
      return
    case 'int4':
      if ((value as number) !== ((value as number) | 0)) throw new RangeError('not a 32-bit integer')
      writer.int32(4)
      writer.int32(value as number)
      return
    case 'int8':
      writer.int32(8)
      writer.int64(BigInt(value as number | bigint))
      return
    case 'timestamptz':
      writer.int32(8)
      writer.int64(BigInt((value as number) - postgresEpochMs) * 1000n)
      return
    case 'float8':
      writer.int32(8)
      writer.float64(value as number)
  }
}

/** Gathers small fields into chunks. A number is written only after `reserve` made room for it. */
function createChunkWriter() {
  let chunk = Buffer.allocUnsafe(chunkBytes)
  let length = 0
  let full: Buffer[] = []
  const cut = () => {
    if (length > 0) full.push(chunk.subarray(0, length))
    chunk = Buffer.allocUnsafe(chunkBytes)
    length = 0
  }
  const reserve = (bytes: number) => {
    if (length + bytes > chunkBytes) cut()
  }
  return {
    reserve,
    byte: (value: number) => (length = chunk.writeUInt8(value, length)),
    int16: (value: number) => (length = chunk.writeInt16BE(value, length)),
    int32: (value: number) => (length = chunk.writeInt32BE(value, length)),
    int64: (value: bigint) => (length = chunk.writeBigInt64BE(value, length)),
    float64: (value: number) => (length = chunk.writeDoubleBE(value, length)),
    sized(bytes: Buffer) {
      length = chunk.writeInt32BE(bytes.length, length)
      if (bytes.length >= passOnBytes) {
        cut()
        full.push(bytes)
        return
      }
      reserve(bytes.length)
      length += bytes.copy(chunk, length)
    },
    /** Written directly where it surely fits: a buffer for each short text took a tenth of a sink's time. */
    text(text: string) {
      const maxBytes = text.length * 3
      if (maxBytes > shortTextBytes) {
        this.sized(Buffer.from(text, 'utf8'))
        return
      }
      reserve(4 + maxBytes)
      const bytes = chunk.write(text, length + 4, 'utf8')
      length = chunk.writeInt32BE(bytes, length) + bytes
    },
    uuid(uuid: string) {
      const bytes = chunk.write(uuid.replaceAll('-', ''), length + 4, 'hex')
      if (bytes !== 16) throw new RangeError('not a UUID')
      length = chunk.writeInt32BE(16, length) + 16
    },
    takeFull: (): Buffer[] => {
      const taken = full
      full = []
      return taken
    },
    takeAll(): Buffer[] {
      cut()
      return this.takeFull()
    },
  }
}

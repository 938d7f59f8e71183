import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'
import { maxParts } from '#capture/json.ts'
import { invalidInput, Problem } from '#http/problem.ts'

type Scalar = 'text' | 'bool' | 'int64' | 'fixed64' | 'double' | 'enum' | 'hex' | 'base64'

/** A field: its name in OTLP's JSON form, and its type or message. */
interface Field {
  name: string
  type: Scalar | MessageName
  repeated?: true
}

/** The messages of opentelemetry-proto 1.x that are read, by field number. */
const messages = {
  ExportTraceServiceRequest: { 1: { name: 'resourceSpans', type: 'ResourceSpans', repeated: true } },
  ExportLogsServiceRequest: { 1: { name: 'resourceLogs', type: 'ResourceLogs', repeated: true } },
  ResourceLogs: { 2: { name: 'scopeLogs', type: 'ScopeLogs', repeated: true } },
  ScopeLogs: { 2: { name: 'logRecords', type: 'LogRecord', repeated: true } },
  LogRecord: {
    1: { name: 'timeUnixNano', type: 'fixed64' },
    5: { name: 'body', type: 'AnyValue' },
    6: { name: 'attributes', type: 'KeyValue', repeated: true },
    9: { name: 'traceId', type: 'hex' },
    10: { name: 'spanId', type: 'hex' },
    11: { name: 'observedTimeUnixNano', type: 'fixed64' },
    12: { name: 'eventName', type: 'text' },
  },
  ResourceSpans: {
    1: { name: 'resource', type: 'Resource' },
    2: { name: 'scopeSpans', type: 'ScopeSpans', repeated: true },
  },
  Resource: { 1: { name: 'attributes', type: 'KeyValue', repeated: true } },
  ScopeSpans: {
    1: { name: 'scope', type: 'Scope' },
    2: { name: 'spans', type: 'Span', repeated: true },
  },
  Scope: { 1: { name: 'name', type: 'text' } },
  Span: {
    1: { name: 'traceId', type: 'hex' },
    2: { name: 'spanId', type: 'hex' },
    4: { name: 'parentSpanId', type: 'hex' },
    5: { name: 'name', type: 'text' },
    7: { name: 'startTimeUnixNano', type: 'fixed64' },
    8: { name: 'endTimeUnixNano', type: 'fixed64' },
    9: { name: 'attributes', type: 'KeyValue', repeated: true },
    11: { name: 'events', type: 'Event', repeated: true },
    15: { name: 'status', type: 'Status' },
  },
  Event: {
    2: { name: 'name', type: 'text' },
    3: { name: 'attributes', type: 'KeyValue', repeated: true },
  },
  Status: { 2: { name: 'message', type: 'text' }, 3: { name: 'code', type: 'enum' } },
  KeyValue: { 1: { name: 'key', type: 'text' }, 2: { name: 'value', type: 'AnyValue' } },
  AnyValue: {
    1: { name: 'stringValue', type: 'text' },
    2: { name: 'boolValue', type: 'bool' },
    3: { name: 'intValue', type: 'int64' },
    4: { name: 'doubleValue', type: 'double' },
    5: { name: 'arrayValue', type: 'ArrayValue' },
    6: { name: 'kvlistValue', type: 'KeyValueList' },
    7: { name: 'bytesValue', type: 'base64' },
  },
  ArrayValue: { 1: { name: 'values', type: 'AnyValue', repeated: true } },
  KeyValueList: { 1: { name: 'values', type: 'KeyValue', repeated: true } },
} as const satisfies Record<string, Readonly<Record<number, { name: string; type: string; repeated?: true }>>>

type MessageName = keyof typeof messages
type Message = Record<string, unknown>

const wireTypes: Readonly<Record<Scalar, WireType>> = {
  text: WireType.LengthDelimited,
  hex: WireType.LengthDelimited,
  base64: WireType.LengthDelimited,
  bool: WireType.Varint,
  int64: WireType.Varint,
  enum: WireType.Varint,
  fixed64: WireType.Bit64,
  double: WireType.Bit64,
}

/** Deeper values are of no instrumentation. */
const maxDepth = 64

/** The messages of export requests. */
export type OtlpRequest = 'ExportTraceServiceRequest' | 'ExportLogsServiceRequest'

/**
 * An export request in OTLP's JSON form. Unknown fields are skipped. Throws 400 for bytes that are not
 * protobuf, and 422 for a value that takes many times its bytes.
 */
export function decodeOtlp(request: OtlpRequest, bytes: Buffer): Message {
  const reader = new BinaryReader(bytes, (text) => Buffer.from(text).toString('utf8'))
  let parts = 0

  function read(type: MessageName, end: number, depth: number): Message {
    if ((parts += 1) > maxParts || depth > maxDepth) throw tooMany()
    const fields: Readonly<Record<number, Field>> = messages[type]
    const message: Message = {}
    while (reader.pos < end) {
      const [number, wireType] = reader.tag()
      const field = fields[number]
      const expected = field && (isScalar(field.type) ? wireTypes[field.type] : WireType.LengthDelimited)
      if (field === undefined || wireType !== expected) reader.skip(wireType, number)
      else
        put(
          message,
          field,
          isScalar(field.type) ? readScalar(reader, field.type) : readInner(field.type, depth),
        )
    }
    if (reader.pos > end) throw new RangeError('a message is longer than what holds it')
    return message
  }

  function readInner(type: MessageName, depth: number): Message {
    const length = reader.uint32()
    return read(type, reader.pos + length, depth + 1)
  }

  try {
    return read(request, bytes.length, 0)
  } catch (error) {
    if (error instanceof Problem) throw error
    // The reader throws errors of several kinds, all for broken bytes.
    throw new Problem(400, 'NOT_PROTOBUF', `the body is not an ${request} in protobuf`, { cause: error })
  }
}

function put(message: Message, { name, repeated }: Field, value: unknown): void {
  if (repeated !== true) {
    message[name] = value
    return
  }
  const list = (message[name] ??= []) as unknown[]
  list.push(value)
}

function isScalar(type: Field['type']): type is Scalar {
  return Object.hasOwn(wireTypes, type)
}

function readScalar(reader: BinaryReader, type: Scalar): unknown {
  switch (type) {
    case 'text':
      return reader.string()
    case 'hex':
      return Buffer.from(reader.bytes()).toString('hex')
    case 'base64':
      return Buffer.from(reader.bytes()).toString('base64')
    case 'bool':
      return reader.bool()
    case 'int64':
      return String(reader.int64())
    case 'enum':
      return reader.int32()
    case 'fixed64':
      return String(reader.fixed64())
    case 'double':
      return reader.double()
  }
}

function tooMany(): Problem {
  const most = maxParts.toLocaleString('en')
  return invalidInput([
    { path: '', message: `must hold at most ${most} messages, nested at most ${maxDepth} deep` },
  ])
}

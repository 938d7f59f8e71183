import zlib from 'node:zlib'

/** One event of an `application/vnd.amazon.eventstream`. All headers are strings. */
export function amazonEvent(headers: Readonly<Record<string, string>>, payload: object): Buffer {
  const head = Buffer.concat(
    Object.entries(headers).flatMap(([name, value]) => [
      Buffer.from([name.length]),
      Buffer.from(name),
      Buffer.from([7, 0, Buffer.byteLength(value)]),
      Buffer.from(value),
    ]),
  )
  const body = Buffer.from(JSON.stringify(payload))
  const prelude = Buffer.alloc(8)
  prelude.writeUInt32BE(16 + head.length + body.length)
  prelude.writeUInt32BE(head.length, 4)
  const begun = Buffer.concat([prelude, checksum(prelude), head, body])
  return Buffer.concat([begun, checksum(begun)])
}

function checksum(bytes: Buffer): Buffer {
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(zlib.crc32(bytes))
  return sum
}

/** One chunk of InvokeModelWithResponseStream. */
export function amazonChunk(chunk: object): Buffer {
  const bytes = Buffer.from(JSON.stringify(chunk)).toString('base64')
  return amazonEvent({ ':event-type': 'chunk', ':message-type': 'event' }, { bytes, p: 'abc' })
}

/** One event of the Converse API. */
export function converseEvent(name: string, payload: object): Buffer {
  return amazonEvent({ ':event-type': name, ':message-type': 'event' }, { ...payload, p: 'abcdef' })
}

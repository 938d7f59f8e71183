import { createServer, type Socket } from 'node:net'
import type { AddressInfo } from 'node:net'

/** One request as it came over the wire. */
export interface RawRequest {
  /** Request line and headers, without line breaks. */
  lines: string[]
  body: Buffer
}

/** Writes the answer. The connection stays open unless this ends it. */
export type RawAnswer = (socket: Socket, request: RawRequest) => void

/**
 * A provider that sees every byte and controls every byte of its answers. Reads bodies by Content-Length and
 * chunks.
 */
export interface RawUpstream {
  url: string
  requests: RawRequest[]
  /** Connections that closed, before or after their answer was complete. */
  closed: () => number
  answer(with_: RawAnswer): void
  stop(): Promise<void>
}

/** An answer with a Content-Length. */
export function sized(status: string, headers: string[], body: string | Buffer): RawAnswer {
  return (socket) => {
    socket.write(`HTTP/1.1 ${status}\r\n${headers.map((line) => `${line}\r\n`).join('')}`)
    socket.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n`)
    socket.write(body)
  }
}

export function chunk(text: string): string {
  return `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`
}

export async function startRawUpstream(): Promise<RawUpstream> {
  const requests: RawRequest[] = []
  const sockets = new Set<Socket>()
  let closed = 0
  let current: RawAnswer = sized('200 OK', ['Content-Type: application/json'], '{"ok":true}')
  const server = createServer((socket) => {
    sockets.add(socket)
    let pending = Buffer.alloc(0)
    socket.on('data', (data: Buffer) => {
      pending = Buffer.concat([pending, data])
      for (let read = readRequest(pending); read !== undefined; read = readRequest(pending)) {
        pending = pending.subarray(read.end)
        requests.push(read.request)
        current(socket, read.request)
      }
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      sockets.delete(socket)
      closed++
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    closed: () => closed,
    answer(answer) {
      current = answer
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}

function readRequest(bytes: Buffer): { request: RawRequest; end: number } | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd === -1) return undefined
  const lines = bytes.toString('latin1', 0, headEnd).split('\r\n')
  const header = (name: string) =>
    lines
      .find((line) => line.toLowerCase().startsWith(`${name}:`))
      ?.split(':')[1]
      ?.trim()
  const start = headEnd + 4
  if (header('transfer-encoding') === 'chunked') return readChunks(bytes, start, lines)
  const end = start + Number(header('content-length') ?? 0)
  return bytes.length < end ? undefined : { request: { lines, body: bytes.subarray(start, end) }, end }
}

function readChunks(
  bytes: Buffer,
  start: number,
  lines: string[],
): { request: RawRequest; end: number } | undefined {
  const parts: Buffer[] = []
  for (let at = start; ;) {
    const lineEnd = bytes.indexOf('\r\n', at)
    if (lineEnd === -1) return undefined
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16)
    const end = lineEnd + 2 + size + 2
    if (bytes.length < end) return undefined
    if (size === 0) return { request: { lines, body: Buffer.concat(parts) }, end }
    parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size))
    at = end
  }
}

import { channel, type ChannelListener } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import type { DiagnosticsChannel } from 'undici'
import { createStatusReader, type StatusReader } from './status-line.ts'

/** Told the status of an answer when its line has come, which is before undici tells it: that waits for the last header. */
export type OnStatus = (status: number) => void

export interface StatusWatch {
  /** From when the request with exactly this body, no copy of it, is written to its connection. */
  add(body: Buffer, onStatus: OnStatus): void
  close(): void
}

interface Watched {
  reader: StatusReader
  onStatus: OnStatus
}

/**
 * A receiver that sends its status line and then a byte a second has answered in time (specification 3.3), and nothing that undici
 * offers says so. So the bytes are looked at on their way into it: its diagnostics channel tells which connection a request is written
 * to, and what it reads from there is read by way of `socket.read`.
 */
export function createStatusWatch(): StatusWatch {
  const expected = new WeakMap<object, OnStatus>()
  const sockets = new WeakMap<Socket, Watched | null>()
  const onSent: ChannelListener = (message) => {
    const { request, socket } = message as DiagnosticsChannel.ClientSendHeadersMessage
    const body = (request as { body?: unknown }).body
    const onStatus = typeof body === 'object' && body !== null ? expected.get(body) : undefined
    if (onStatus === undefined) return
    if (!sockets.has(socket)) tap(socket, sockets)
    sockets.set(socket, { reader: createStatusReader(), onStatus })
  }
  const sendHeaders = channel('undici:client:sendHeaders')
  sendHeaders.subscribe(onSent)
  return {
    add(body, onStatus) {
      expected.set(body, onStatus)
    },
    close() {
      sendHeaders.unsubscribe(onSent)
    },
  }
}

function tap(socket: Socket, sockets: WeakMap<Socket, Watched | null>): void {
  const read = socket.read.bind(socket)
  socket.read = (size?: number) => {
    const chunk: unknown = read(size)
    const watched = sockets.get(socket)
    if (watched && Buffer.isBuffer(chunk)) {
      const status = watched.reader.add(chunk)
      if (status !== undefined) {
        sockets.set(socket, null)
        watched.onStatus(status)
      }
    }
    return chunk
  }
}

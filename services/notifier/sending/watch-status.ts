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

/** What is looked for on a connection; null when the status has come. */
interface Tap {
  watched: { reader: StatusReader; onStatus: OnStatus } | null
}

/**
 * A receiver that sends its status line and then a byte a second has answered in time (specification 3.3), and nothing that undici
 * offers says so. So the bytes are looked at on their way into it: its diagnostics channel tells which connection a request is written
 * to, and what it reads from there is read by way of `socket.read`.
 */
export function createStatusWatch(): StatusWatch {
  // On the body itself: a WeakMap with an entry for each request is what the garbage collector then spends its time on.
  const told = Symbol('told the status')
  type Body = Buffer & { [told]?: OnStatus }
  const taps = new WeakMap<Socket, Tap>()
  const onSent: ChannelListener = (message) => {
    const { request, socket } = message as DiagnosticsChannel.ClientSendHeadersMessage
    const onStatus = (request as { body?: Body | null }).body?.[told]
    if (onStatus === undefined) return
    const tap = taps.get(socket) ?? tapSocket(socket)
    taps.set(socket, tap)
    tap.watched = { reader: createStatusReader(), onStatus }
  }
  const sendHeaders = channel('undici:client:sendHeaders')
  sendHeaders.subscribe(onSent)
  return {
    add(body: Body, onStatus) {
      body[told] = onStatus
    },
    close() {
      sendHeaders.unsubscribe(onSent)
    },
  }
}

function tapSocket(socket: Socket): Tap {
  const tap: Tap = { watched: null }
  const read = socket.read.bind(socket)
  socket.read = (size?: number) => {
    const chunk: unknown = read(size)
    const { watched } = tap
    if (watched && Buffer.isBuffer(chunk)) {
      const status = watched.reader.add(chunk)
      if (status !== undefined) {
        tap.watched = null
        watched.onStatus(status)
      }
    }
    return chunk
  }
  return tap
}

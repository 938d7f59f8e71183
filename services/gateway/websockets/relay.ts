import type { Duplex } from 'node:stream'

/** One end of a relay. */
export interface RelayEnd {
  socket: Duplex
  /** A copy of what came from it. */
  read: (bytes: Buffer) => void
}

export interface RelayHandlers {
  onBytes: () => void
  /** One side has ended or failed; the first time only. */
  onEnd: (side: 'client' | 'upstream', error: Error | undefined) => void
  /** Both are closed. */
  onClose: () => void
}

/** How long a socket may take to close after the other side has. */
const lingerMs = 5_000

/** Passes bytes between two sockets as they are, each no faster than the other takes them. */
export function relay(client: RelayEnd, upstream: RelayEnd, handlers: RelayHandlers): void {
  let isEnding = false
  let open = 2
  const pass = (from: RelayEnd, to: RelayEnd, side: 'client' | 'upstream') => {
    const end = (error: Error | undefined) => {
      if (isEnding) return
      isEnding = true
      handlers.onEnd(side, error)
      setTimeout(() => {
        client.socket.destroy()
        upstream.socket.destroy()
      }, lingerMs).unref()
    }
    from.socket.on('data', (bytes: Buffer) => {
      handlers.onBytes()
      from.read(bytes)
      if (to.socket.writable && !to.socket.write(bytes)) from.socket.pause()
    })
    to.socket.on('drain', () => from.socket.resume())
    from.socket.on('end', () => {
      end(undefined)
      to.socket.end()
    })
    from.socket.on('error', (error) => end(error))
    from.socket.on('close', () => {
      end(undefined)
      to.socket.end()
      open--
      if (open === 0) handlers.onClose()
    })
  }
  pass(client, upstream, 'client')
  pass(upstream, client, 'upstream')
  client.socket.resume()
  upstream.socket.resume()
}

import { constants, inflateRawSync } from 'node:zlib'

/** How the messages of one direction are compressed. */
export interface Deflation {
  /** Whether a message may refer to those before it. */
  keepsContext: boolean
}

export interface Inflate {
  /** A message decompressed, or why that is impossible. */
  read(bytes: Buffer): Buffer | 'too_large' | 'compression'
  /** A compressed message was not read. */
  skip(): void
}

/** What the end of a message lacks (RFC 7692, 7.2.2). */
const ending = Buffer.from([0x00, 0x00, 0xff, 0xff])
/** How far back a message may refer. */
const windowBytes = 32 * 1024

/**
 * Decompresses whole messages. The end of what came before serves as dictionary, which is all that a message
 * can refer to: no stream of zlib, with its threads and its own memory, is kept for a socket. Once a message
 * is missing, those that may refer to it cannot be read.
 */
export function createInflate({ keepsContext }: Deflation, maxBytes: number): Inflate {
  let window: Buffer = Buffer.alloc(0)
  let isLost = false
  const lose = () => {
    isLost = keepsContext
  }
  return {
    skip: lose,
    read(bytes) {
      if (isLost) return 'compression'
      try {
        const plain = inflateRawSync(Buffer.concat([bytes, ending]), {
          finishFlush: constants.Z_SYNC_FLUSH,
          maxOutputLength: maxBytes,
          ...(window.length === 0 ? {} : { dictionary: window }),
        })
        if (keepsContext) window = Buffer.from(Buffer.concat([window, plain]).subarray(-windowBytes))
        return plain
      } catch (error) {
        lose()
        return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? 'too_large' : 'compression'
      }
    },
  }
}

export interface Deflations {
  ofClient: Deflation | undefined
  ofServer: Deflation | undefined
}

/** What a server's `Sec-WebSocket-Extensions` has settled. Undefined: an extension that is not known. */
export function deflationsOf(extensions: string | undefined): Deflations | undefined {
  if (extensions === undefined || extensions.trim() === '')
    return { ofClient: undefined, ofServer: undefined }
  const [name = '', ...parameters] = extensions.split(';').map((part) => part.trim().toLowerCase())
  if (name !== 'permessage-deflate' || extensions.includes(',')) return undefined
  return {
    ofClient: { keepsContext: !parameters.includes('client_no_context_takeover') },
    ofServer: { keepsContext: !parameters.includes('server_no_context_takeover') },
  }
}

import type { ServerResponse } from 'node:http'

/** Longer data is written in pieces: copying costs more than it saves. */
const joinedBytes = 16 * 1024
const lineBreak = Buffer.from('\r\n')

/**
 * Chunks of an answer on their way to the application. Chunks of one read are sent in one write, without
 * waiting for another read.
 */
export class PassingChunks {
  readonly #response: ServerResponse
  #chunks: Buffer[] = []
  #byteLength = 0
  #isFramed = false

  constructor(response: ServerResponse) {
    this.#response = response
  }

  /**
   * Called after writeHead. Frames chunked answers here, as Node does it with four pieces and a `writev`
   * each.
   */
  begin(): void {
    this.#isFramed = this.#response.chunkedEncoding
    this.#response.chunkedEncoding = false
  }

  /** `onFull`: the application's connection is congested. */
  add(chunk: Buffer, onFull: () => void): void {
    this.#chunks.push(chunk)
    this.#byteLength += chunk.length
    if (this.#chunks.length > 1) return
    process.nextTick(() => {
      if (!this.flush()) onFull()
    })
  }

  /** Returns whether the application's connection can take more. */
  flush(): boolean {
    const byteLength = this.#byteLength
    // An empty frame would end the answer.
    if (byteLength === 0) return true
    const pieces = this.#isFramed ? framed(this.#chunks, byteLength) : this.#chunks
    this.drop()
    const { socket } = this.#response
    // Without cork, Node would delay the write by a turn.
    socket?.cork()
    const isWritable = this.#write(byteLength > joinedBytes ? pieces : [joined(pieces)])
    socket?.uncork()
    return isWritable
  }

  /** Drops pending chunks after the application disconnected. */
  drop(): void {
    this.#chunks = []
    this.#byteLength = 0
  }

  /** Ends the answer, with `last` if its length is known. */
  end(last: Buffer | undefined): void {
    // Node writes the last frame and the trailers.
    if (this.#isFramed) this.#response.chunkedEncoding = true
    this.#response.end(last)
  }

  #write(pieces: readonly Buffer[]): boolean {
    let isWritable = true
    for (const piece of pieces) isWritable = this.#response.write(piece)
    return isWritable
  }
}

function framed(chunks: readonly Buffer[], byteLength: number): Buffer[] {
  return [Buffer.from(`${byteLength.toString(16)}\r\n`), ...chunks, lineBreak]
}

function joined(pieces: readonly Buffer[]): Buffer {
  const [first] = pieces
  return first !== undefined && pieces.length === 1 ? first : Buffer.concat(pieces)
}

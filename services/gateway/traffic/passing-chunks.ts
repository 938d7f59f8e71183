import type { ServerResponse } from 'node:http'

/** Longer ones leave in their pieces: to copy them would cost more than it saves. */
const joinedBytes = 16 * 1024
const lineBreak = Buffer.from('\r\n')

/** Chunks of an answer on their way: those that one read of the provider's connection brought leave in one write. None waits for another read. */
export class PassingChunks {
  readonly #response: ServerResponse
  #chunks: Buffer[] = []
  #byteLength = 0
  #isFramed = false

  constructor(response: ServerResponse) {
    this.#response = response
  }

  /** The headers are made. Chunks that they announce are framed here: Node's own way is four pieces and a `writev` for each. */
  begin(): void {
    this.#isFramed = this.#response.chunkedEncoding
    this.#response.chunkedEncoding = false
  }

  /** `onFull`: the application's connection can take no more for now. */
  add(chunk: Buffer, onFull: () => void): void {
    this.#chunks.push(chunk)
    this.#byteLength += chunk.length
    if (this.#chunks.length > 1) return
    process.nextTick(() => {
      if (!this.flush()) onFull()
    })
  }

  /** Whether the application's connection can take more. */
  flush(): boolean {
    const byteLength = this.#byteLength
    // In a frame nothing would be the end of the answer.
    if (byteLength === 0) return true
    const pieces = this.#isFramed ? framed(this.#chunks, byteLength) : this.#chunks
    this.drop()
    const { socket } = this.#response
    // Node would hold what is written back for a turn of its own.
    socket?.cork()
    const isWritable = this.#write(byteLength > joinedBytes ? pieces : [joined(pieces)])
    socket?.uncork()
    return isWritable
  }

  /** The application has gone. */
  drop(): void {
    this.#chunks = []
    this.#byteLength = 0
  }

  /** Ends the answer, with `last` where its length is known. */
  end(last: Buffer | undefined): void {
    // The last frame, and the trailers behind it, are Node's to write.
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

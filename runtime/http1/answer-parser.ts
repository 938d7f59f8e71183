import { HeadTooLarge, headOf, MalformedAnswer, trailersOf, type AnswerHead } from './answer-head.ts'

/** Receives the parts of an answer, in order. */
export interface AnswerSink {
  onHead(head: AnswerHead): void
  /** Body bytes, as a view of the pushed buffer. */
  onBody(bytes: Buffer): void
  /** The answer is complete. `isReusable`: the connection can carry another answer. */
  onWhole(trailers: string[], isReusable: boolean): void
}

type State =
  | 'idle'
  | 'head'
  | 'sized'
  | 'until close'
  | 'chunk length'
  | 'chunk extension'
  | 'end of length'
  | 'chunk'
  | 'end of chunk'
  | 'end of chunk, second byte'
  | 'trailers'

const lineFeed = 0x0a
const carriageReturn = 0x0d
const semicolon = 0x3b
/** Limit of a head or of trailers, as for requests. */
const maxHeaderBytes = 64 * 1024
/** Limit of chunk extensions, which nothing uses. */
const maxExtensionBytes = 4 * 1024
/** 2^48 bytes: a longer number is an attempt to overflow. */
const maxLengthDigits = 12
const emptyLine = '\r\n\r\n'
const beginning = 'HTTP/1.'
const lineBreak = Buffer.from('\r\n')

/**
 * Parses the answers of one connection, strictly as HTTP/1.1 (RFC 9112). An answer that two parsers could
 * read differently ends the connection. Throws {@link MalformedAnswer}.
 */
export class AnswerParser {
  readonly #sink: AnswerSink
  #state: State = 'idle'
  #isHead = false
  #keepAlive = false
  /** Parts of an incomplete head or of incomplete trailers. */
  #held: Buffer[] = []
  #heldBytes = 0
  /** Bytes left of the body, or of a chunk. */
  #left = 0
  #digits = 0

  constructor(sink: AnswerSink) {
    this.#sink = sink
  }

  /** The next answer belongs to a request with this method; an answer to `HEAD` has no body. */
  expect(method: string): void {
    this.#isHead = method === 'HEAD'
    this.#state = 'head'
  }

  push(bytes: Buffer): void {
    for (let at = 0; at < bytes.length;) at = this.#read(bytes, at, this.#state)
  }

  /** Returns the offset behind what it has read. */
  #read(bytes: Buffer, at: number, state: State): number {
    if (state === 'sized' || state === 'chunk') return this.#readBody(bytes, at)
    if (state === 'head') return this.#readHead(bytes, at)
    if (state === 'trailers') return this.#readTrailers(bytes, at)
    if (state === 'idle') throw new MalformedAnswer('the server sent what nobody asked for')
    if (state !== 'until close') return this.#readFraming(bytes, at, state)
    this.#sink.onBody(bytes.subarray(at))
    return bytes.length
  }

  /** The server has closed its side: returns whether that ends the answer as it should. */
  end(): boolean {
    if (this.#state !== 'until close') return false
    this.#end([], false)
    return true
  }

  #readHead(bytes: Buffer, at: number): number {
    const { block, end } = this.#upToEmptyLine(bytes, at)
    if (block === undefined) {
      this.#checkBeginning(end - at)
      return end
    }
    const head = headOf(block)
    // Interim answers belong to the connection.
    if (head.status < 200) {
      if (head.status === 101) throw new MalformedAnswer('the server changes the protocol unasked')
      return end
    }
    this.#keepAlive = head.keepAlive
    this.#sink.onHead(head)
    this.#begin(head, end === bytes.length)
    return end
  }

  /** A server of another protocol may be waiting for us, and an empty line may never come. */
  #checkBeginning(newBytes: number): void {
    if (this.#heldBytes - newBytes >= beginning.length) return
    const begun = Buffer.concat(this.#held).toString('latin1', 0, beginning.length)
    if (!beginning.startsWith(begun)) throw new MalformedAnswer('the answer does not begin as HTTP/1.1 does')
  }

  #begin({ status, length, isChunked }: AnswerHead, isAtEnd: boolean): void {
    this.#left = length ?? 0
    if (this.#isHead || status === 204 || status === 304 || length === 0) this.#end([], isAtEnd)
    else if (isChunked) this.#beginChunk()
    else this.#state = length === undefined ? 'until close' : 'sized'
  }

  #readBody(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + this.#left)
    this.#left -= end - at
    const isLast = this.#left === 0
    const isSized = this.#state === 'sized'
    this.#sink.onBody(at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end))
    if (isLast && isSized) this.#end([], end === bytes.length)
    else if (isLast) this.#state = 'end of chunk'
    return end
  }

  #beginChunk(): void {
    this.#state = 'chunk length'
    this.#left = 0
    this.#digits = 0
  }

  /** The lines between chunks. */
  #readFraming(bytes: Buffer, at: number, state: State): number {
    const byte = bytes[at] ?? 0
    if (state === 'chunk length') {
      const digit = hexDigitOf(byte)
      if (digit === undefined) this.#afterLength(byte)
      else if (this.#digits++ < maxLengthDigits) this.#left = this.#left * 16 + digit
      else throw new MalformedAnswer('the length of a chunk is too large')
    } else if (state === 'chunk extension') {
      if (byte === carriageReturn) this.#state = 'end of length'
      else if (byte === lineFeed || this.#digits++ > maxExtensionBytes)
        throw new MalformedAnswer('the extension of a chunk is malformed')
    } else if (state === 'end of length') {
      expectByte(byte, lineFeed)
      this.#state = this.#left === 0 ? 'trailers' : 'chunk'
    } else if (state === 'end of chunk') {
      expectByte(byte, carriageReturn)
      this.#state = 'end of chunk, second byte'
    } else {
      expectByte(byte, lineFeed)
      this.#beginChunk()
    }
    return at + 1
  }

  #afterLength(byte: number): void {
    if (this.#digits === 0) throw new MalformedAnswer('a chunk has no length')
    if (byte === semicolon) {
      this.#state = 'chunk extension'
      this.#digits = 0
      return
    }
    expectByte(byte, carriageReturn)
    this.#state = 'end of length'
  }

  #readTrailers(bytes: Buffer, at: number): number {
    // Nearly no answer has trailers, and its end comes in one piece.
    if (this.#heldBytes === 0 && bytes[at] === carriageReturn && bytes[at + 1] === lineFeed) {
      const end = at + lineBreak.length
      this.#end([], end === bytes.length)
      return end
    }
    // The last chunk's line break, so that answers with and without trailers end alike.
    if (this.#heldBytes === 0) {
      this.#held.push(lineBreak)
      this.#heldBytes = lineBreak.length
    }
    const { block, end } = this.#upToEmptyLine(bytes, at)
    if (block !== undefined) this.#end(trailersOf(block.slice(2)), end === bytes.length)
    return end
  }

  /** What precedes an empty line, with earlier parts; undefined: it is incomplete, and kept. */
  #upToEmptyLine(bytes: Buffer, at: number): { block: string | undefined; end: number } {
    const behind = this.#behindEmptyLine(bytes, at)
    const end = behind ?? bytes.length
    const heldBytes = this.#heldBytes + end - at
    if (heldBytes > maxHeaderBytes) throw new HeadTooLarge("the answer's headers are too large")
    const piece = bytes.subarray(at, end)
    if (behind === undefined) {
      this.#held.push(piece)
      this.#heldBytes = heldBytes
      return { block: undefined, end }
    }
    const whole = this.#held.length === 0 ? piece : Buffer.concat([...this.#held, piece])
    this.#held = []
    this.#heldBytes = 0
    return { block: whole.toString('latin1', 0, heldBytes - emptyLine.length), end }
  }

  /**
   * Where the first empty line ends, which may begin in earlier parts. Those are not searched again for every
   * byte.
   */
  #behindEmptyLine(bytes: Buffer, at: number): number | undefined {
    if (this.#heldBytes === 0) {
      const found = bytes.indexOf(emptyLine, at, 'latin1')
      return found === -1 ? undefined : found + emptyLine.length
    }
    const mayBegin = emptyLine.length - 1
    const last = Buffer.concat(this.#held.slice(-mayBegin)).subarray(-mayBegin)
    const found = Buffer.concat([last, bytes.subarray(at)]).indexOf(emptyLine, 0, 'latin1')
    return found === -1 ? undefined : at + found + emptyLine.length - last.length
  }

  #end(trailers: string[], isAtEnd: boolean): void {
    this.#state = 'idle'
    this.#sink.onWhole(trailers, this.#keepAlive && isAtEnd)
  }
}

function expectByte(byte: number, expected: number): void {
  if (byte !== expected) throw new MalformedAnswer('a chunk is not framed as it must be')
}

function hexDigitOf(byte: number): number | undefined {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : undefined
}

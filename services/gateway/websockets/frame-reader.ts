import type { CaptureBudget } from '../recording/capture-budget.ts'
import { chunkOverheadBytes } from '#runtime/chunk-overhead.ts'
import { createInflate, type Deflation, type Inflate } from './inflate-messages.ts'

/** Why a message was not read. After `malformed` nothing of its direction is. */
export const unreadReasons = ['too_large', 'memory', 'compression', 'malformed', 'not_json'] as const
export type UnreadReason = (typeof unreadReasons)[number]

interface FrameReaderOptions {
  budget: CaptureBudget
  /** Maximum bytes of one message, decompressed. */
  maxBytes: number
  /** Undefined: messages are not compressed. */
  deflation: Deflation | undefined
  /** A whole text or binary message; its bytes are valid only during the call. */
  onMessage: (bytes: Buffer) => void
  onUnread: (reason: UnreadReason) => void
}

const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const
const known: ReadonlySet<number> = new Set(Object.values(opcodes))
const isControl = (opcode: number) => opcode >= opcodes.close

interface Frame {
  opcode: number
  isLast: boolean
  mask: Buffer | undefined
  length: number
  /** Payload bytes that have passed. */
  passed: number
}

/**
 * Reads the messages of one direction of a WebSocket (RFC 6455, with the compression of RFC 7692) from a copy
 * of its bytes. What it cannot read is reported, and passes all the same.
 */
export class FrameReader {
  readonly #options: FrameReaderOptions
  readonly #inflate: Inflate | undefined
  #header: Buffer = Buffer.alloc(0)
  #frame: Frame | undefined
  /** Of the message that has begun; undefined between messages. */
  #message: { isCompressed: boolean; isSkipped: boolean } | undefined
  #chunks: Buffer[] = []
  #kept = 0
  #taken = 0
  #hasFailed = false
  #isClosing = false

  constructor(options: FrameReaderOptions) {
    this.#options = options
    this.#inflate = options.deflation && createInflate(options.deflation, options.maxBytes)
  }

  push(chunk: Buffer): void {
    for (let at = 0; at < chunk.length && !this.#hasFailed;)
      at = this.#frame === undefined ? this.#readHeader(chunk, at) : this.#readPayload(this.#frame, chunk, at)
  }

  /** Whether a frame of our own may follow the bytes so far. */
  get isBetweenFrames(): boolean {
    return this.#frame === undefined && this.#header.length === 0 && !this.#hasFailed
  }

  /** Whether the sender has sent its Close frame. */
  get isClosing(): boolean {
    return this.#isClosing
  }

  /** Returns what an incomplete message holds to the budget. */
  release(): void {
    this.#options.budget.release(this.#taken)
    this.#chunks = []
    this.#kept = this.#taken = 0
  }

  #readHeader(chunk: Buffer, at: number): number {
    const before = this.#header.length
    const header =
      before === 0 ? chunk.subarray(at) : Buffer.concat([this.#header, chunk.subarray(at, at + 14)])
    const size = headerBytes(header)
    if (size === undefined || header.length < size) {
      this.#header = Buffer.from(header)
      return chunk.length
    }
    this.#header = Buffer.alloc(0)
    this.#begin(header.subarray(0, size))
    return at + size - before
  }

  #begin(header: Buffer): void {
    const { opcode, isLast, isCompressed, mask } = fieldsOf(header)
    const length = lengthOf(header)
    if (length === undefined || !this.#isProper(header, length)) {
      this.#fail()
      return
    }
    if (opcode === opcodes.close) this.#isClosing = true
    if (!isControl(opcode)) this.#message ??= { isCompressed, isSkipped: false }
    this.#frame = { opcode, isLast, mask, length, passed: 0 }
    if (length === 0) this.#endFrame(isLast, opcode)
  }

  #isProper(header: Buffer, length: number): boolean {
    const { opcode, isLast, isCompressed, hasUnknownBits } = fieldsOf(header)
    if (!known.has(opcode) || hasUnknownBits) return false
    if (isControl(opcode)) return length <= 125 && isLast && !isCompressed
    const continues = opcode === opcodes.continuation
    if (isCompressed && (continues || this.#inflate === undefined)) return false
    return continues === (this.#message !== undefined)
  }

  #readPayload(frame: Frame, chunk: Buffer, at: number): number {
    const end = Math.min(chunk.length, at + frame.length - frame.passed)
    if (!isControl(frame.opcode)) this.#keep(frame, chunk.subarray(at, end))
    frame.passed += end - at
    if (frame.passed === frame.length) this.#endFrame(frame.isLast, frame.opcode)
    return end
  }

  #keep({ mask, passed }: Frame, payload: Buffer): void {
    if (this.#message === undefined || this.#message.isSkipped) return
    const takes = payload.length + chunkOverheadBytes
    const reason =
      this.#kept + payload.length > this.#options.maxBytes
        ? 'too_large'
        : this.#options.budget.acquire(takes)
          ? undefined
          : 'memory'
    if (reason !== undefined) {
      this.#message.isSkipped = true
      this.release()
      this.#options.onUnread(reason)
      return
    }
    this.#taken += takes
    this.#kept += payload.length
    // Copied, so that no read buffer of the socket is held.
    const copy = Buffer.from(payload)
    if (mask !== undefined)
      for (let at = 0; at < copy.length; at++) copy[at] = (copy[at] ?? 0) ^ (mask[(passed + at) & 3] ?? 0)
    this.#chunks.push(copy)
  }

  #endFrame(isLast: boolean, opcode: number): void {
    this.#frame = undefined
    if (isControl(opcode) || !isLast) return
    const message = this.#message
    this.#message = undefined
    if (message === undefined) return
    if (message.isSkipped) {
      if (message.isCompressed) this.#inflate?.skip()
      return
    }
    const [only] = this.#chunks
    const bytes =
      only !== undefined && this.#chunks.length === 1 ? only : Buffer.concat(this.#chunks, this.#kept)
    const plain = message.isCompressed ? this.#inflate?.read(bytes) : bytes
    try {
      if (Buffer.isBuffer(plain)) this.#options.onMessage(plain)
      else this.#options.onUnread(plain ?? 'compression')
    } finally {
      this.release()
    }
  }

  #fail(): void {
    this.#hasFailed = true
    this.release()
    this.#options.onUnread('malformed')
  }
}

function fieldsOf(header: Buffer) {
  const [first = 0, second = 0] = header
  return {
    opcode: first & 0x0f,
    isLast: (first & 0x80) !== 0,
    isCompressed: (first & 0x40) !== 0,
    hasUnknownBits: (first & 0x30) !== 0,
    mask: (second & 0x80) === 0 ? undefined : Buffer.from(header.subarray(-4)),
  }
}

/** Bytes of a frame's header; undefined before its second byte. */
function headerBytes(header: Buffer): number | undefined {
  const second = header[1]
  if (second === undefined) return undefined
  const code = second & 0x7f
  return 2 + (code === 126 ? 2 : code === 127 ? 8 : 0) + ((second & 0x80) === 0 ? 0 : 4)
}

/** Bytes of its payload; undefined beyond what a number holds. */
function lengthOf(header: Buffer): number | undefined {
  const code = (header[1] ?? 0) & 0x7f
  if (code === 126) return header.readUInt16BE(2)
  if (code < 126) return code
  const length = header.readBigUInt64BE(2)
  return length > BigInt(Number.MAX_SAFE_INTEGER) ? undefined : Number(length)
}

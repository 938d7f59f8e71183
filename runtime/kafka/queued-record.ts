import type { Message } from 'kafkajs'
import type { SluiceError } from '../errors.ts'
import { murmur2 } from './partition-for-key.ts'
import type { PendingSend } from './pending-send.ts'
import type { OutgoingRecord } from './records.ts'

/** Counts the bytes that wait for an acknowledgement. */
interface Buffered {
  remove(bytes: number): void
}

/** A record on its way. Exactly one of `written`, `failed` and `abandon` is called, once. */
export class QueuedRecord {
  readonly topic: string
  readonly message: Message
  readonly keyHash: number
  readonly bytes: number
  /** Clock time after which its sender no longer waits. */
  readonly deadlineMs: number
  readonly #send: PendingSend
  readonly #buffer: Buffered

  constructor(
    record: OutgoingRecord,
    waiting: { send: PendingSend; buffer: Buffered; bytes: number; deadlineMs: number },
  ) {
    this.topic = record.topic
    this.message = { key: record.key, value: record.value, headers: { ...record.headers } }
    this.keyHash = murmur2(Buffer.from(record.key))
    this.bytes = waiting.bytes
    this.deadlineMs = waiting.deadlineMs
    this.#send = waiting.send
    this.#buffer = waiting.buffer
  }

  /** Whether its sender still waits. */
  get wanted(): boolean {
    return !this.#send.settled
  }

  written(): void {
    this.#buffer.remove(this.bytes)
    this.#send.oneWritten()
  }

  failed(error: SluiceError): void {
    this.#buffer.remove(this.bytes)
    this.#send.fail(error)
  }

  /** No sender waits for it. Whether it was written is unknown. */
  abandon(): void {
    this.#buffer.remove(this.bytes)
  }
}

/** Bytes of key, value and headers, as the buffer counts them. */
export function bytesOf({ key, value, headers }: OutgoingRecord): number {
  let bytes = Buffer.byteLength(key) + (value?.length ?? 0)
  for (const [name, header] of Object.entries(headers ?? {})) {
    bytes += Buffer.byteLength(name) + Buffer.byteLength(header)
  }
  return bytes
}

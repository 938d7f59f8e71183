import { TransientError } from '../errors.ts'
import type { Log } from '../log.ts'
import type { ProducerMetrics } from './producer-metrics.ts'

/** Bounds the bytes that wait for an acknowledgement, so that an outage of Kafka does not fill memory. */
export class SendBuffer {
  readonly #maxBytes: number
  readonly #log: Log
  readonly #metrics: ProducerMetrics
  #bytes = 0
  #reported = false

  constructor(maxBytes: number, log: Log, metrics: ProducerMetrics) {
    this.#maxBytes = maxBytes
    this.#log = log
    this.#metrics = metrics
  }

  /**
   * Throws TransientError PRODUCER_BUFFER_FULL. An empty buffer accepts any size, so no send is refused for
   * ever.
   */
  add(bytes: number): void {
    if (this.#bytes > 0 && this.#bytes + bytes > this.#maxBytes) {
      if (!this.#reported)
        this.#log.error({ buffered_bytes: this.#bytes }, 'the producer buffer is full: records are refused')
      this.#reported = true
      const message = `${this.#bytes} bytes already wait for Kafka; the maximum is ${this.#maxBytes}`
      throw new TransientError('PRODUCER_BUFFER_FULL', message)
    }
    this.#move(bytes)
  }

  remove(bytes: number): void {
    this.#move(-bytes)
    if (this.#bytes < this.#maxBytes / 2) this.#reported = false
  }

  #move(bytes: number): void {
    this.#bytes += bytes
    this.#metrics.bufferedBytes.inc(bytes)
  }
}

import type { ServerResponse } from 'node:http'

/** Chunks of an answer on their way: those that one read of the provider's connection brought leave in one write. None waits for another read. */
export class PassingChunks {
  readonly #response: ServerResponse
  #chunks: Buffer[] = []

  constructor(response: ServerResponse) {
    this.#response = response
  }

  /** `onFull`: the application's connection can take no more for now. */
  add(chunk: Buffer, onFull: () => void): void {
    this.#chunks.push(chunk)
    if (this.#chunks.length > 1) return
    process.nextTick(() => {
      if (!this.flush()) onFull()
    })
  }

  /** Whether the application's connection can take more. */
  flush(): boolean {
    const [first] = this.#chunks
    if (first === undefined) return true
    const bytes = this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks)
    this.#chunks = []
    return this.#response.write(bytes)
  }

  /** The application has gone. */
  drop(): void {
    this.#chunks = []
  }
}

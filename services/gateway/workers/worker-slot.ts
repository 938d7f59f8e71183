import type { Worker } from 'node:cluster'
import type { Clock } from '#runtime/clock.ts'
import type { Log } from '#runtime/log.ts'
import { reportEveryMs, type WorkerOrder, type WorkerReport } from './worker-report.ts'

interface SlotOptions {
  /** From 1. */
  number: number
  fork: (worker: number) => Worker
  clock: Clock
  log: Log
  /** Told of each worker that ended unasked, with what it reported last. */
  onEnded: (last: WorkerReport | undefined) => void
}

const minPauseMs = 1_000
const maxPauseMs = 30_000
/** A worker that served for so long did not fail at its start: the next one comes at once again. */
const settledMs = 60_000
const silentMs = 10 * reportEveryMs

/** One of the workers, through all its lives: one that ends is started again, after pauses that grow. */
export class WorkerSlot {
  readonly #options: SlotOptions
  readonly #stopping = new AbortController()
  readonly #running: Promise<void>
  readonly #first = Promise.withResolvers<undefined>()
  #worker: Worker | undefined
  #report: WorkerReport | undefined
  #reportedMs = 0

  constructor(options: SlotOptions) {
    this.#options = options
    // A slot that is stopped before its first report was ready for nobody.
    this.#first.promise.catch(() => undefined)
    this.#running = this.#run()
  }

  /** Resolves when its first worker serves; rejects when that one ends before it does. */
  ready(): Promise<void> {
    return this.#first.promise
  }

  /** What its worker reported last; undefined while there is none. */
  report(): WorkerReport | undefined {
    return this.#report
  }

  /** Why it does not serve, or null. */
  problem(): string | null {
    if (this.#report === undefined) return 'has ended and is started again'
    const quietMs = this.#options.clock.now() - this.#reportedMs
    return quietMs > silentMs ? `says nothing for ${Math.round(quietMs / 1_000)} s` : null
  }

  /** Lets the worker drain; resolves when it has ended. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    const order: WorkerOrder = { kind: 'stop' }
    if (this.#worker?.isConnected() === true) this.#worker.send(order)
    await this.#running
  }

  #isStopping(): boolean {
    return this.#stopping.signal.aborted
  }

  async #run(): Promise<void> {
    const { number, clock, log, onEnded } = this.#options
    let pauseMs = minPauseMs
    for (;;) {
      const startedMs = clock.now()
      const how = await this.#runWorker()
      const last = this.#report
      this.#report = undefined
      onEnded(last)
      if (this.#isStopping()) return
      this.#first.reject(new Error(`worker ${number} ended before it served: ${how}`))
      if (clock.now() - startedMs >= settledMs) pauseMs = minPauseMs
      log.error(
        { worker: number, how, pause_ms: pauseMs },
        'a worker has ended; its calls are broken off, its records are on disk',
      )
      await clock.sleep(pauseMs, this.#stopping.signal)
      if (this.#isStopping()) return
      pauseMs = Math.min(maxPauseMs, pauseMs * 2)
    }
  }

  /** From start to end of one worker; how it ended. */
  #runWorker(): Promise<string> {
    const { number, fork, clock } = this.#options
    const worker = fork(number)
    this.#worker = worker
    worker.on('message', (message: WorkerReport) => {
      this.#report = message
      this.#reportedMs = clock.now()
      this.#first.resolve(undefined)
    })
    return new Promise((resolve) => {
      worker.once('error', (error) => resolve(error.message))
      worker.once('exit', (code: number, signal: string | null) => resolve(signal ?? `code ${code}`))
    })
  }
}

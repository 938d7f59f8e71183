import type { Worker } from 'node:cluster'
import type { Clock } from '#runtime/clock.ts'
import type { Log } from '#runtime/log.ts'
import { reportEveryMs, type WorkerOrder, type WorkerReport } from './worker-report.ts'

interface SlotOptions {
  /** Counts from 1. */
  number: number
  fork: (worker: number) => Worker
  clock: Clock
  log: Log
  /** Called for each worker that ended unexpectedly, with its last report. */
  onEnded: (last: WorkerReport | undefined) => void
}

const minPauseMs = 1_000
const maxPauseMs = 30_000
/** A worker that served this long did not fail at its start: its successor starts without backoff. */
const settledMs = 60_000
const silentMs = 10 * reportEveryMs

/** One worker slot: restarts its worker with backoff when it ends. */
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
    // Nobody may be waiting for the first report.
    this.#first.promise.catch(() => undefined)
    this.#running = this.#run()
  }

  /** Resolves when the first worker serves; rejects if it ends before. */
  ready(): Promise<void> {
    return this.#first.promise
  }

  /** The worker's last report; undefined while there is none. */
  report(): WorkerReport | undefined {
    return this.#report
  }

  /** Why the worker does not serve, or null. */
  problem(): string | null {
    if (this.#report === undefined) return 'has ended and is being restarted'
    const quietMs = this.#options.clock.now() - this.#reportedMs
    return quietMs > silentMs ? `has not reported for ${Math.round(quietMs / 1_000)} s` : null
  }

  /** Drains the worker; resolves when it has ended. */
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
        'a worker has ended; its calls are aborted, its records are on disk',
      )
      await clock.sleep(pauseMs, this.#stopping.signal)
      if (this.#isStopping()) return
      pauseMs = Math.min(maxPauseMs, pauseMs * 2)
    }
  }

  /** Runs one worker; resolves with how it ended. */
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

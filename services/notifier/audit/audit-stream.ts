import type { Clock } from '#runtime/clock.ts'
import { messageOf } from '#runtime/errors.ts'
import type { Log } from '#runtime/log.ts'
import type { Health, Service } from '#runtime/service.ts'
import type { NotifierMetrics } from '../notifier-metrics.ts'
import type { AuditStore } from './audit-store.ts'
import type { SendAudit } from './send-audit.ts'

interface AuditStreamOptions {
  store: AuditStore
  send: SendAudit
  metrics: Pick<NotifierMetrics, 'auditLag' | 'auditStreamed'>
  clock: Clock
  log: Log
}

const idleMs = 2_000
/** Between failed requests, doubled up to the second. */
const pauses = { firstMs: 2_000, lastMs: 60_000 } as const

/** Sends the audit log to the operator's SIEM, oldest entries first, until each is taken. */
export class AuditStream implements Service {
  readonly #options: AuditStreamOptions
  readonly #stopping = new AbortController()
  readonly #ended = Promise.withResolvers<undefined>()
  readonly done: Promise<void> = this.#ended.promise
  #running: Promise<void> | undefined
  #problem: string | undefined

  constructor(options: AuditStreamOptions) {
    this.#options = options
  }

  start(): Promise<void> {
    this.#running ??= this.#run()
    return Promise.resolve()
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
    this.#ended.resolve(undefined)
  }

  health(): Health {
    if (this.#problem === undefined) return { status: 'ok' }
    return { status: 'degraded', problems: { audit: this.#problem } }
  }

  async #run(): Promise<void> {
    const { clock, log } = this.#options
    const { signal } = this.#stopping
    let pauseMs = 0
    while (!signal.aborted) {
      const result = await this.#round().catch((error: unknown) => messageOf(error))
      if (typeof result === 'number') {
        this.#problem = undefined
        pauseMs = 0
        if (result === 0) await clock.sleep(idleMs, signal)
        continue
      }
      this.#problem = 'the SIEM of AUDIT_STREAM does not take the audit log'
      log.warn({ reason: result }, 'the audit log is not streamed')
      pauseMs = Math.min(pauses.lastMs, pauseMs === 0 ? pauses.firstMs : pauseMs * 2)
      await clock.sleep(pauseMs, signal)
    }
  }

  async #round(): Promise<number | string> {
    const { store, send, metrics } = this.#options
    metrics.auditLag.set(await store.lagSeconds())
    const result = await store.streamSome(send)
    if (typeof result === 'number') metrics.auditStreamed.inc(result)
    return result
  }
}

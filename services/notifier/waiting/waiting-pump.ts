import { PermanentError } from '#runtime/errors.ts'
import type { Health, Service } from '#runtime/service.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'
import { receiverTimeoutMs, type Asker, type Parts } from '../delivery/attempt.ts'
import type { AttemptDue } from '../delivery/attempt-due.ts'
import type { GiveUpDelivery } from '../delivery/give-up-delivery.ts'
import type { EndpointKind } from '../limits/endpoint-limiter.ts'
import type { Endpoint, Release } from '../limits/wait-queue.ts'
import { SlowPace } from './slow-pace.ts'

export interface PumpDependencies extends Pick<Parts, 'limiter' | 'waiting' | 'metrics' | 'log' | 'clock'> {
  attemptDue: AttemptDue
  giveUp: GiveUpDelivery
}

const idleMs = 250
/** Pause while attempts at quick endpoints wait. */
const busyMs = 25
/**
 * Pause between rounds for endpoints that are not known to be quick. With a round after each attempt and 50
 * of 100 endpoints hanging, Postgres took 14 % of a core for them, and healthy endpoints had a p99 of 155 to
 * 258 ms.
 */
const unhurriedMs = 100
/** Just under the 10 s of a hanging attempt, so that no permit stays unused. */
const fillSlowOverMs = 9_000
/** Pause after an error of Postgres. */
const troubleMs = 1_000
/** Longer than a claim of 15 s: an attempt that falls due again can be claimed. */
const takeLeaseMs = 30_000

/** Makes the attempts that wait in the database, as permits of their endpoints become free. */
export class WaitingPump implements Service {
  readonly #dependencies: PumpDependencies
  readonly #slowPace: SlowPace
  readonly #working = new Set<Promise<void>>()
  readonly #ended = Promise.withResolvers<undefined>()
  readonly done: Promise<void> = this.#ended.promise
  #state: 'new' | 'running' | 'stopping' = 'new'
  #idle = new AbortController()
  #problem: string | undefined

  constructor(dependencies: PumpDependencies) {
    this.#dependencies = dependencies
    const { limiter, clock } = dependencies
    this.#slowPace = new SlowPace({
      permits: limiter.slowPermits,
      overMs: fillSlowOverMs,
      now: () => clock.now(),
    })
  }

  start(): Promise<void> {
    if (this.#state === 'new') {
      this.#state = 'running'
      void this.#run()
    }
    return Promise.resolve()
  }

  async stop(): Promise<void> {
    if (this.#state === 'new') this.#ended.resolve(undefined)
    this.#state = 'stopping'
    this.#idle.abort()
    await this.done
  }

  health(): Health {
    if (this.#problem === undefined) return { status: 'ok' }
    return { status: 'degraded', problems: { waiting: this.#problem } }
  }

  async #run(): Promise<void> {
    const { clock, log, metrics } = this.#dependencies
    while (this.#state === 'running') {
      this.#idle = new AbortController()
      try {
        const { taken, hasQuick } = await this.#round()
        this.#problem = undefined
        if (taken === 0) await this.#pause()
        else if (!hasQuick) await clock.sleep(unhurriedMs)
      } catch (error) {
        this.#problem = 'waiting deliveries cannot be read'
        log.warn({ err: error }, this.#problem)
        metrics.failedRounds.inc()
        await clock.sleep(troubleMs)
      }
    }
    await Promise.all(this.#working)
    this.#ended.resolve(undefined)
  }

  async #pause(): Promise<void> {
    const { limiter, clock } = this.#dependencies
    const held = limiter.heldBack()
    const isBusy = held.some(({ webhook_id: webhookId }) => limiter.kindOf(webhookId) === 'quick')
    await clock.sleep(isBusy ? busyMs : held.length > 0 ? unhurriedMs : idleMs, this.#idle.signal)
  }

  /** Returns how many were taken, and whether one is for a quick endpoint. */
  async #round(): Promise<{ taken: number; hasQuick: boolean }> {
    const { limiter, waiting } = this.#dependencies
    const permits = limiter.permitsLeft()
    if (Math.max(...Object.values(permits.all)) <= 0) return { taken: 0, hasQuick: false }
    const held = limiter.heldBack()
    const maxSlow = this.#slowPace.max()
    const taken = await waiting.take({ permits, maxSlow, leaseMs: takeLeaseMs })
    const kinds = new Map(permits.endpoints.map(({ webhookId, kind }) => [webhookId, kind]))
    const kindOf = ({ webhook_id: webhookId }: Endpoint) => kinds.get(webhookId) ?? 'unknown'
    for (const delivery of taken) await this.#begin(delivery, kindOf(delivery))
    const found = new Set(taken.map(({ webhook_id: webhookId }) => webhookId))
    const isSlowCut = taken.filter((delivery) => kindOf(delivery) === 'slow').length >= maxSlow
    if (!isSlowCut) this.#slowPace.wasEnough()
    // An endpoint with a permit left and nothing found has nothing waiting, unless the pace skipped it.
    for (const endpoint of held) {
      const mayWait = found.has(endpoint.webhook_id) || (isSlowCut && kindOf(endpoint) === 'slow')
      if (!mayWait && limiter.hasPermit(endpoint)) limiter.letPass(endpoint.webhook_id)
    }
    // Read now: an unknown endpoint may have turned out to be quick, with more waiting.
    const hasQuick = found.values().some((webhookId) => limiter.kindOf(webhookId) === 'quick')
    return { taken: taken.length, hasQuick }
  }

  async #begin(delivery: WebhookDelivery, kind: EndpointKind): Promise<void> {
    const { limiter, waiting, clock } = this.#dependencies
    const release = limiter.acquire(delivery, 'waiting')
    if (release === undefined) {
      await waiting.putBack(delivery, clock.now())
      return
    }
    if (kind === 'slow') this.#slowPace.begun()
    const begunMs = clock.now()
    const work = this.#work(delivery, release).finally(() => {
      this.#working.delete(work)
      if (kind === 'slow' && clock.now() - begunMs < receiverTimeoutMs) this.#slowPace.endedEarly()
      if (limiter.kindOf(delivery.webhook_id) === 'quick') this.#idle.abort()
    })
    this.#working.add(work)
  }

  async #work(delivery: WebhookDelivery, release: Release): Promise<void> {
    const { attemptDue, limiter, waiting } = this.#dependencies
    const onSlow: Asker['onSlow'] = (_delivery, written) => {
      // Noted now, not after 10 s: until then the endpoint would hold a permit of the unknown ones.
      limiter.note(delivery.webhook_id, true)
      return written
    }
    try {
      const end = await attemptDue(delivery, release, { hasRecord: false, onSlow })
      if (end.kind === 'decided') await waiting.remove(delivery)
      else if (end.kind === 'held') await waiting.putBack(delivery, end.untilMs)
    } catch (error) {
      await this.#fail(delivery, error)
    }
  }

  /**
   * After a transient error the attempt falls due again at the end of its lease. A permanent one ends the
   * delivery.
   */
  async #fail(delivery: WebhookDelivery, error: unknown): Promise<void> {
    const { giveUp, waiting, log } = this.#dependencies
    const { delivery_id } = delivery
    log.error({ err: error, delivery_id }, 'cannot attempt a waiting delivery')
    if (!(error instanceof PermanentError)) return
    try {
      await giveUp(delivery, error)
      await waiting.remove(delivery)
    } catch (failure) {
      log.error({ err: failure, delivery_id }, 'cannot give up a waiting delivery; will be retried')
    }
  }
}

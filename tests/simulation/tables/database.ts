import { TransientError } from '#runtime/errors.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import type { Score, ScoredCall } from '#schemas/safety-score-recorded.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'
import type { FinishedAttempt } from '#services/notifier/stores/delivery-store.ts'
import type { Webhook } from '#services/notifier/stores/webhook-rows.ts'
import type { SimProcess } from '../world/sim-process.ts'
import type { World } from '../world/world.ts'

export interface OutboxEntry {
  seq: number
  event: RaisedEvent
  isPublished: boolean
  /** The transaction that holds its lock. */
  lockedBy: { isOpen: boolean; relay: SimProcess | null } | null
}

export interface AttemptEntry {
  leaseUntilMs: number
  claims: number
  finished: FinishedAttempt | null
  /** Time of the first reported failure; for an attempt of two processes, the earlier. */
  firstFailedMs: number
}

export interface DeliveryEntry {
  delivery: WebhookDelivery
  attemptCount: number
  status: 'pending' | 'retrying' | 'delivered' | 'failed'
  attempts: Map<number, AttemptEntry>
}

/**
 * The contents of Postgres, with the keys and conditions of our statements. A statement or transaction is
 * atomic, as row locks and constraints make it in the real one.
 */
export class Database {
  /** By project and request, like all our keys. */
  readonly calls = new Map<string, LoggedCall>()
  readonly ephemeral = new Set<string>()
  readonly positions = new Map<string, bigint>()
  readonly tools = new Set<string>()
  readonly scores = new Map<string, { call: ScoredCall; score: Score }>()
  readonly outbox = new Map<string, OutboxEntry>()
  /** By project: calls and scores counted in roll-ups, and the quota counter. */
  readonly countedCalls = new Map<string, number>()
  readonly countedScores = new Map<string, number>()
  readonly quotaCounters = new Map<string, number>()
  readonly quotaClaims = new Map<string, Set<string>>()
  readonly deliveries = new Map<string, DeliveryEntry>()
  readonly waiting = new Map<string, { delivery: WebhookDelivery; dueAtMs: number }>()
  readonly webhooks: Webhook[] = []
  readonly world: World
  /** Deliveries that started in one batch: shows that seeds exercise that path. */
  begunTogether = 0
  /** Called for every claimed attempt. */
  onClaimed: (delivery: WebhookDelivery) => void = () => undefined
  #seq = 0

  constructor(world: World) {
    this.world = world
  }

  /** Runs one statement or transaction. */
  ask<T>(effect: () => T): Promise<T> {
    const failure = () => new TransientError('POSTGRES_UNAVAILABLE', 'Postgres: Connection terminated')
    return this.world.request({ target: 'postgres', effect, failure })
  }

  /** In the transaction of the state that raises them. Existing events stay. */
  addEvents(events: readonly RaisedEvent[]): void {
    for (const event of events) {
      if (this.outbox.has(event.id)) continue
      this.outbox.set(event.id, { seq: ++this.#seq, event, isPublished: false, lockedBy: null })
    }
  }
}

export function addTo(counts: Map<string, number>, key: string, more = 1): void {
  counts.set(key, (counts.get(key) ?? 0) + more)
}

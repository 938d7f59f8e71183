import type pg from 'pg'
import type { PreparedStatement } from '#runtime/postgres.ts'
import { postgresArray, type ArrayType, type ArrayValues } from '#runtime/postgres-arrays.ts'
import { idToBytes, idToUuid } from '#schemas/ids.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'
import {
  abandonDelivery,
  beginDeliveries,
  claimAttempts,
  finishAttempts,
  insertDeliveries,
  insertWaitingDeliveries,
} from './delivery-statements.ts'
import { createBatcher, createGroupBatcher } from './batcher.ts'
import type { Webhook } from './webhook-rows.ts'
import { writeRows } from './write-rows.ts'

/** Result of claiming an attempt. */
export type Claim =
  | { kind: 'claimed' }
  /** The delivery does not exist: its webhook was deleted, or its request erased. */
  | { kind: 'gone' }
  /** It has succeeded, or a later attempt was made. */
  | { kind: 'superseded' }
  /** It is the latest and has failed: what follows may not have been published. */
  | { kind: 'failed_before'; failedAtMs: number; error: string; isLast: boolean }
  /** Another notifier has it until then (Unix milliseconds), unless it crashed. */
  | { kind: 'leased'; untilMs: number }

/** Result of an attempt. `error` is null if it delivered. */
export interface FinishedAttempt {
  finishedAtMs: number
  statusCode: number | null
  durationMs: number
  error: string | null
  /** The beginning of the answer's body. */
  excerpt: Buffer | null
  /** No retry follows a failure. */
  isLast: boolean
  /** False: no request was made, because the webhook is disabled. */
  wasSent: boolean
  /** What the receiver asked for; absent for webhooks, whose delays are fixed. */
  retryAfterMs?: number | null
}

/** Ends a delivery as failed, whether its attempt was claimed or not. */
export type AbandonDelivery = (delivery: WebhookDelivery, error: string) => Promise<void>

export function createAbandonDelivery(pool: pg.Pool): AbandonDelivery {
  return async ({ delivery_id: id, attempt }, error) => {
    await writeRows(pool, abandonDelivery, [idToUuid(id), attempt, error])
  }
}

export interface DeliveryStore {
  /** Writes new deliveries. Skips those whose webhook was deleted or whose request was erased. */
  insert(deliveries: readonly WebhookDelivery[]): Promise<void>
  /**
   * The same, with a waiting first attempt for each (waiting-store.ts). False: none waits, because the
   * delivery was skipped or another notifier writes it at this moment.
   */
  insertWaiting(deliveries: readonly WebhookDelivery[]): Promise<boolean[]>
  /**
   * Writes deliveries that do not exist yet, each with the claim of its first attempt. Resolves to an error
   * or a boolean for each. False: it was skipped or exists, or its webhook has changed since it was read.
   */
  beginAll: (beginnings: readonly Beginning[]) => Promise<readonly (boolean | Error)[]>
  /** Claims `delivery.attempt` for the store's lease. */
  claim(delivery: WebhookDelivery): Promise<Claim>
  /** Writes results of attempts and the state of their deliveries. Resolves to null or an error for each. */
  finishAll: (ended: readonly Ended[]) => Promise<readonly (null | Error)[]>
}

/** Limit of one statement. More are rarely in flight at the same time. */
export const maxBatched = 200

/** Claims last for `leaseMs`. Claims and results of one moment share a statement. */
export function createDeliveryStore(pool: pg.Pool, leaseMs: number): DeliveryStore {
  return {
    async insert(deliveries) {
      if (deliveries.length > 0) await writeRows(pool, insertDeliveries, rowsOf(deliveries.map(ofAnyVersion)))
    },
    insertWaiting: (deliveries) =>
      writeEach(pool, insertWaitingDeliveries, rowsOf(deliveries.map(ofAnyVersion)), deliveries.length),
    beginAll: batchBeginnings(pool, leaseMs),
    claim: batchClaims(pool, leaseMs),
    finishAll: batchFinishes(pool),
  }
}

/** The parameters of {@link insertDeliveries} and {@link beginDeliveries}. */
function rowsOf(rows: readonly Beginning[]): Buffer[] {
  const column = columnsOf(rows)
  return [
    column('uuid', ({ delivery }) => idToBytes(delivery.delivery_id)),
    column('uuid', ({ delivery }) => idToBytes(delivery.webhook_id)),
    column('uuid', ({ delivery }) => idToBytes(delivery.project_id)),
    column('uuid', ({ delivery }) => idToBytes(delivery.event.id)),
    column('text', ({ delivery }) => delivery.event.event),
    column('timestamptz', ({ delivery }) => delivery.event.created_at),
    column('bytea', ({ delivery }) => delivery.event.data),
    column('text', ({ delivery }) => delivery.event.content?.codec ?? null),
    column('text', ({ delivery }) => delivery.event.content?.key_id ?? null),
    column('bytea', ({ delivery }) => delivery.event.content?.data ?? null),
    column('text', ({ delivery }) => delivery.event.content_id),
    column('text', ({ webhook }) => webhook?.version ?? null),
  ]
}

/** `webhook`: as read; null: any version. */
interface Beginning {
  delivery: WebhookDelivery
  webhook: Pick<Webhook, 'version'> | null
}

function ofAnyVersion(delivery: WebhookDelivery): Beginning {
  return { delivery, webhook: null }
}

/** Runs a statement that returns the ordinals (from 1) of what it did not write. A boolean for each. */
async function writeEach(
  pool: pg.Pool,
  statement: PreparedStatement,
  values: readonly unknown[],
  count: number,
): Promise<boolean[]> {
  const rows = await writeRows<{ ordinal: number }>(pool, statement, values)
  const leftOut = new Set(rows.map(({ ordinal }) => ordinal - 1))
  return Array.from({ length: count }, (_, index) => !leftOut.has(index))
}

function batchBeginnings(pool: pg.Pool, leaseMs: number): DeliveryStore['beginAll'] {
  return createGroupBatcher<Beginning, boolean>({
    keyOf: ({ delivery }) => delivery.delivery_id,
    maxItems: maxBatched,
    run: (beginnings) =>
      writeEach(pool, beginDeliveries, [...rowsOf(beginnings), leaseMs], beginnings.length),
  })
}

function batchClaims(pool: pg.Pool, leaseMs: number): DeliveryStore['claim'] {
  return createBatcher<WebhookDelivery, Claim>({
    keyOf: ({ delivery_id: id }) => id,
    maxItems: maxBatched,
    async run(deliveries) {
      const column = columnsOf(deliveries)
      const rows = await writeRows<UnclaimedRow>(pool, claimAttempts, [
        column('uuid', ({ delivery_id: id }) => idToBytes(id)),
        column('int4', ({ attempt }) => attempt),
        column('bool', opensRound),
        leaseMs,
      ])
      const unclaimed = new Map(rows.map((row) => [row.ordinal - 1, row]))
      return deliveries.map((delivery, index) => claimOf(unclaimed.get(index), delivery))
    },
  })
}

/** A manual replay repeats what was delivered; a retry does not. */
function opensRound({ attempt, first_attempt: first }: WebhookDelivery): boolean {
  return attempt === first
}

interface Ended {
  delivery: WebhookDelivery
  attempt: FinishedAttempt
}

function batchFinishes(pool: pg.Pool): DeliveryStore['finishAll'] {
  return createGroupBatcher<Ended, null>({
    keyOf: ({ delivery }) => delivery.delivery_id,
    maxItems: maxBatched,
    async run(ended) {
      const column = columnsOf(ended)
      await writeRows(pool, finishAttempts, [
        column('uuid', ({ delivery }) => idToBytes(delivery.delivery_id)),
        column('int4', ({ delivery }) => delivery.attempt),
        column('timestamptz', ({ attempt }) => attempt.finishedAtMs),
        column('int4', ({ attempt }) => attempt.statusCode),
        column('float8', ({ attempt }) => attempt.durationMs),
        column('text', ({ attempt }) => attempt.error),
        column('bytea', ({ attempt }) => attempt.excerpt),
        column('text', ({ attempt }) => statusAfter(attempt)),
        column('bool', ({ delivery }) => opensRound(delivery)),
      ])
      return ended.map(() => null)
    },
  })
}

type ReadColumn<Row> = <T extends ArrayType>(type: T, read: (row: Row) => ArrayValues[T] | null) => Buffer

function columnsOf<Row>(rows: readonly Row[]): ReadColumn<Row> {
  return (type, read) => postgresArray(type, rows, read)
}

interface UnclaimedRow {
  /** From 1 on. */
  ordinal: number
  is_there: boolean
  status: string
  attempt_count: number
  finished_at: Date | null
  error: string | null
  lease_until: Date
}

function claimOf(row: UnclaimedRow | undefined, delivery: WebhookDelivery): Claim {
  const { attempt } = delivery
  if (row === undefined) return { kind: 'claimed' }
  if (!row.is_there) return { kind: 'gone' }
  if (row.status === 'delivered' && !opensRound(delivery)) return { kind: 'superseded' }
  if (row.attempt_count < attempt) return { kind: 'leased', untilMs: row.lease_until.getTime() }
  const { finished_at: finishedAt, error } = row
  const isLatest = row.attempt_count === attempt
  // Pending again means that a manual replay has begun another round.
  if (!isLatest || finishedAt === null || error === null || row.status === 'pending')
    return { kind: 'superseded' }
  return { kind: 'failed_before', failedAtMs: finishedAt.getTime(), error, isLast: row.status === 'failed' }
}

function statusAfter(attempt: FinishedAttempt): string {
  if (attempt.error === null) return 'delivered'
  return attempt.isLast ? 'failed' : 'retrying'
}

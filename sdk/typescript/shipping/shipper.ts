import { setTimeout as sleep } from 'node:timers/promises'
import type { ByteBudget } from '../capturing/byte-budget.ts'
import type { DropReason, ShippingStats } from '../types.ts'
import type { Warn } from '../warn.ts'
import type { Poster } from './post-json.ts'
import { createPostRecords } from './post-records.ts'
import { createRecordQueue } from './record-queue.ts'
import { createSendBatch, type Pause } from './send-batch.ts'

export interface Shipper {
  /** Adds a record. Never throws, never waits. */
  add(json: string): void
  drop(reason: DropReason, count: number, detail: string): void
  /**
   * Resolves to true when all earlier records are sent or dropped, or to false after `timeoutMs`. Keeps the
   * process alive meanwhile.
   */
  flush(timeoutMs: number): Promise<boolean>
  /** Flushes; drops and counts what is left after `timeoutMs`. Accepts nothing afterwards. */
  close(timeoutMs: number): Promise<void>
  stats(): ShippingStats
}

export interface ShipperDependencies {
  poster: Poster
  budget: ByteBudget
  warn: Warn
}

export const noDrops: ShippingStats['dropped'] = {
  queue_full: 0,
  over_quota: 0,
  refused: 0,
  before_send: 0,
  capture_failed: 0,
  shut_down: 0,
}

/** The API accepts 1,000 records and 32 MiB; smaller batches are answered sooner. */
const maxRecords = 500
const maxBatchBytes = 8 * 2 ** 20
/** Batching delay. */
const batchDelayMs = 100
/** Minimum interval at which `flush` cuts pauses short. */
const hurryEveryMs = 500

/** Sends records in the background, in batches. */
export function createShipper({ poster, budget, warn }: ShipperDependencies): Shipper {
  const { dropped, drop } = createDropCounts(warn)
  const dropFull = (count: number) => {
    drop('queue_full', count, 'the queue is full (maxQueueBytes)')
  }
  const queue = createRecordQueue(budget, dropFull)
  let sentCount = 0
  const { post, batchLimit } = createPostRecords(poster, () => performance.now())
  const send = createSendBatch({ post, queue, warn, drop, sent: (count) => (sentCount += count) })
  let inFlight = 0
  let isClosed = false
  let working: Promise<void> | undefined
  const pause = createPauses()
  const waiting = () => queue.length() + inFlight

  const work = async () => {
    await pause.rest({ forMs: batchDelayMs, isAsked: false })
    while (queue.length() > 0 && !isClosed) {
      const batch = queue.take(batchLimit(maxRecords), maxBatchBytes)
      inFlight = batch.length
      const next = await send(batch)
      inFlight = 0
      await pause.rest(next)
    }
    working = undefined
  }
  const start = () => (working ??= work())

  const flush = (timeoutMs: number) =>
    untilEmpty(waiting, timeoutMs, () => {
      pause.hurry()
      return start()
    })

  return {
    add(json) {
      if (isClosed) {
        drop('shut_down', 1, 'added after shutdown()')
        return
      }
      if (!queue.add(json)) dropFull(1)
      void start()
    },
    drop,
    flush,
    async close(timeoutMs) {
      if (isClosed) return
      await flush(timeoutMs)
      isClosed = true
      pause.end()
      poster.close()
      drop('shut_down', waiting(), 'not accepted by the API before shutdown()')
    },
    stats: () => ({
      sent: sentCount,
      waiting: waiting(),
      heldBytes: budget.used(),
      dropped: { ...dropped },
    }),
  }
}

/** Pauses between batches, which do not keep the process alive. */
function createPauses() {
  let current = new AbortController()
  let isAsked = false
  /** Whether a requested pause was already cut short in this series. */
  let isAskedCut = false
  return {
    async rest(pause: Pause) {
      if (!pause.isAsked) isAskedCut = false
      isAsked = pause.isAsked
      if (pause.forMs === 0) return
      current = new AbortController()
      const { signal } = current
      await sleep(pause.forMs, undefined, { ref: false, signal }).catch(() => signal.aborted)
      isAsked = false
    },
    /** Cuts the current pause short; only once in a series of pauses that the API asked for. */
    hurry() {
      if (isAsked && isAskedCut) return
      isAskedCut ||= isAsked
      current.abort()
    },
    end() {
      current.abort()
    },
  }
}

/** Whether `waiting` reached zero within `timeoutMs`. Calls `hurry` at once and repeatedly. */
async function untilEmpty(
  waiting: () => number,
  timeoutMs: number,
  hurry: () => Promise<void>,
): Promise<boolean> {
  const deadline = new AbortController()
  const { signal } = deadline
  // Referenced, so that the process stays alive for the caller.
  const wait = (forMs: number) => sleep(forMs, false, { signal }).catch(() => false)
  const emptied = async () => {
    while (waiting() > 0 && !signal.aborted) await Promise.race([hurry(), wait(hurryEveryMs)])
    return waiting() === 0
  }
  try {
    return await Promise.race([emptied(), wait(timeoutMs)])
  } finally {
    deadline.abort()
  }
}

function createDropCounts(warn: Warn) {
  const dropped = { ...noDrops }
  return {
    dropped,
    drop: (reason: DropReason, count: number, detail: string) => {
      if (count === 0) return
      dropped[reason] += count
      const total = dropped[reason]
      warn(`drop ${reason}`, `${count} record(s) dropped (${reason}; ${total} so far): ${detail}`)
    },
  }
}

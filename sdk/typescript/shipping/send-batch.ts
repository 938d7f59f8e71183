import type { Warn } from '../warn.ts'
import { findPoisonRecords } from './find-stubborn.ts'
import type { PostRecords } from './post-records.ts'
import type { BatchDisposition, RecordDisposition } from './read-results.ts'
import type { QueuedRecord } from './record-queue.ts'
import { createCounts, createSettle, maxTries, type SettleDependencies } from './settle-batch.ts'

export interface SendBatchDependencies extends SettleDependencies {
  post: PostRecords['post']
  warn: Warn
}

/**
 * Posts records taken from the queue; afterwards each is sent, requeued or dropped. Resolves to the pause
 * before the next batch.
 */
export type SendBatch = (batch: readonly QueuedRecord[]) => Promise<Pause>

export interface Pause {
  forMs: number
  /** The API asked for the pause. */
  isAsked: boolean
}

const minPauseMs = 500
const maxPauseMs = 30_000
/** A quota may be raised or a key fixed within minutes: try once a minute. */
const slowPauseMs = 60_000
/** Maximum pause on request: a quota resets in weeks, but may be raised today. */
const maxAskedMs = 10 * 60_000
const noPause: Pause = { forMs: 0, isAsked: false }

/**
 * Rejections of a record, alone while others are accepted, before it is dropped: a firewall may err for a
 * moment.
 */
const maxRejections = 3
export function createSendBatch({ post, queue, warn, drop, sent }: SendBatchDependencies): SendBatch {
  let failures = 0
  const refusalsOf = createCounts()

  const { settled, giveUp } = createSettle({ queue, drop, sent })

  const requeue = (batch: readonly QueuedRecord[], afterMs: number | undefined, detail: string) => {
    queue.requeue(batch)
    failures++
    if (failures >= 3)
      warn('away', `the API does not accept records (${detail}); they wait within maxQueueBytes`)
    return pauseOf(afterMs, backOffMs(failures))
  }

  const stop = (batch: readonly QueuedRecord[], detail: string) => {
    queue.requeue(batch)
    warn('stop', `records cannot be sent and wait within maxQueueBytes: ${detail}`)
    return pauseOf(undefined, slowPauseMs)
  }

  const settle = (batch: readonly QueuedRecord[], dispositions: readonly RecordDisposition[]) => {
    const { again, isDecided } = settled(batch, dispositions)
    if (isDecided) failures = 0
    return again.length === 0 ? noPause : requeue(again, undefined, 'the API could not accept all records')
  }

  const search = async (batch: readonly QueuedRecord[], { kind, detail }: Whole) => {
    const { isOpen, poison, left } = await findPoisonRecords(batch, {
      post,
      decided: (records, { dispositions }) => void settle(records, dispositions),
      tooLarge: (record) => {
        giveUp([record], tooLargeDetail)
      },
    })
    if (!isOpen) return kind === 'refused' ? stop(batch, detail) : requeue(batch, undefined, detail)
    const lost = poison.filter((record) => refusalsOf(record) >= maxRejections)
    giveUp(lost, `rejected alone while others are accepted: ${detail}`)
    const back = [...poison.filter((record) => !lost.includes(record)), ...left]
    return back.length === 0 ? noPause : requeue(back, undefined, detail)
  }

  const send: SendBatch = async (batch) => {
    const disposition = await post(batch)
    switch (disposition.kind) {
      case 'results':
        return settle(batch, disposition.dispositions)
      case 'again':
        if (disposition.isFault && (failures + 1) % maxTries === 0) return search(batch, disposition)
        return requeue(batch, disposition.afterMs, disposition.detail)
      case 'refused':
        return search(batch, disposition)
      case 'stop':
        return stop(batch, disposition.detail)
      case 'over_quota':
        queue.release(batch)
        drop('over_quota', batch.length, disposition.detail)
        return pauseOf(disposition.afterMs, disposition.afterMs === undefined ? slowPauseMs : 0)
      case 'too_large':
        if (batch.length > 1) return sendHalves(batch, send)
        giveUp(batch, tooLargeDetail)
        return noPause
    }
  }
  return send
}

type Whole = BatchDisposition & { kind: 'refused' | 'again' }

const tooLargeDetail = 'a record is larger than the API accepts'

async function sendHalves(batch: readonly QueuedRecord[], send: SendBatch): Promise<Pause> {
  const half = batch.length >> 1
  const first = await send(batch.slice(0, half))
  const second = await send(batch.slice(half))
  return first.forMs > second.forMs ? first : second
}

function pauseOf(askedMs: number | undefined, ownMs: number): Pause {
  const forMs = Math.min(askedMs ?? 0, maxAskedMs)
  return forMs > ownMs ? { forMs, isAsked: true } : { forMs: ownMs, isAsked: false }
}

/** Exponential backoff with jitter, so that programs do not all return at once. */
function backOffMs(failures: number): number {
  const pauseMs = Math.min(maxPauseMs, minPauseMs * 2 ** Math.min(failures - 1, 10))
  return pauseMs * (0.5 + Math.random() / 2)
}

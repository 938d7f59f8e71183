import type { DropReason } from '../types.ts'
import type { Warn } from '../warn.ts'
import type { Poster } from './post-json.ts'
import { batchFate, type RecordFate } from './read-results.ts'
import type { QueuedRecord, RecordQueue } from './record-queue.ts'

export interface SendBatchDependencies {
  poster: Poster
  queue: RecordQueue
  warn: Warn
  drop: (reason: DropReason, count: number, detail: string) => void
  sent: (count: number) => void
}

/** Posts records that were taken out of the queue; each is sent, back in the queue or dropped afterwards. Resolves to the pause before the next. */
export type SendBatch = (batch: readonly QueuedRecord[]) => Promise<Pause>

export interface Pause {
  forMs: number
  /** The API asked for it. */
  isAsked: boolean
}

const answerTimeoutMs = 15_000
const firstPauseMs = 500
const longestPauseMs = 30_000
/** A quota may be raised, a key may be mended, in minutes: one look a minute finds out. */
const patiencePauseMs = 60_000
/** An API that asks for more is looked at all the same: a quota resets in weeks, and may be raised today. */
const longestAskedMs = 10 * 60_000
const noPause: Pause = { forMs: 0, isAsked: false }

export function createSendBatch({ poster, queue, warn, drop, sent }: SendBatchDependencies): SendBatch {
  let failures = 0

  const putBack = (batch: readonly QueuedRecord[], afterMs: number | undefined, detail: string) => {
    queue.putBack(batch)
    failures++
    if (failures >= 3)
      warn('away', `the API does not take records (${detail}); they wait, as far as there is room`)
    return pauseOf(afterMs, backOffMs(failures))
  }

  const settle = (batch: readonly QueuedRecord[], fates: readonly RecordFate[]) => {
    const of = (kind: RecordFate['kind']) => batch.filter((_, index) => fates[index]?.kind === kind)
    const again = of('again')
    const refused = fates.filter((fate) => fate.kind === 'refused')
    sent(of('stored').length)
    drop('over_quota', of('over_quota').length, "the project's quota is used up")
    drop('refused', refused.length, refused[0]?.detail ?? '')
    queue.release(batch.filter((_, index) => fates[index]?.kind !== 'again'))
    if (again.length > 0) return putBack(again, undefined, 'the API could not take all records')
    failures = 0
    return noPause
  }

  const sendHalves = async (batch: readonly QueuedRecord[]) => {
    if (batch.length === 1) {
      queue.release(batch)
      drop('refused', 1, 'a record is larger than the API takes')
      return noPause
    }
    const half = batch.length >> 1
    const first = await send(batch.slice(0, half))
    const second = await send(batch.slice(half))
    return first.forMs > second.forMs ? first : second
  }

  const send: SendBatch = async (batch) => {
    let fate
    try {
      fate = batchFate(await poster.post(batchBody(batch), answerTimeoutMs), batch.length)
    } catch (error) {
      return putBack(batch, undefined, error instanceof Error ? error.message : String(error))
    }
    switch (fate.kind) {
      case 'results':
        return settle(batch, fate.fates)
      case 'again':
        return putBack(batch, fate.afterMs, fate.detail)
      case 'stop':
        queue.putBack(batch)
        warn('stop', `records cannot be sent and wait, as far as there is room: ${fate.detail}`)
        return pauseOf(undefined, patiencePauseMs)
      case 'over_quota':
        queue.release(batch)
        drop('over_quota', batch.length, fate.detail)
        return pauseOf(fate.afterMs, fate.afterMs === undefined ? patiencePauseMs : 0)
      case 'too_large':
        return sendHalves(batch)
    }
  }
  return send
}

function pauseOf(askedMs: number | undefined, ownMs: number): Pause {
  const forMs = Math.min(askedMs ?? 0, longestAskedMs)
  return forMs > ownMs ? { forMs, isAsked: true } : { forMs: ownMs, isAsked: false }
}

/** `{"records":[…]}`. */
function batchBody(batch: readonly QueuedRecord[]): Buffer {
  const comma = Buffer.from(',')
  const records = batch.flatMap((record, index) => (index === 0 ? [record] : [comma, record]))
  return Buffer.concat([Buffer.from('{"records":['), ...records, Buffer.from(']}')])
}

/** Between half and all of the doubled pause, so that programs that lost the API together do not come back together. */
function backOffMs(failures: number): number {
  const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** Math.min(failures - 1, 10))
  return pauseMs * (0.5 + Math.random() / 2)
}

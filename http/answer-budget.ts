import type { Request, Response } from 'express'
import type { Metrics } from '#runtime/metrics.ts'
import type { Principal } from './access/principal.ts'
import { Problem } from './problem.ts'
import { createSharedBytes, type OwnBytes } from './shared-bytes.ts'

/** The kernel buffers smaller answers. */
const freeBytes = 16 * 1024
/** The limit of writes: a 503 after the write would repeat it, and its input bounds its answer. */
const freeWriteBytes = 256 * 1024
/** Enough for the largest answer, two bodies of 10 MiB, at half a Mbit/s. */
const maxReadMs = 300_000

/** What one answer takes of the budget. */
export interface AnswerReservation {
  /**
   * Reserves so many bytes in all until the answer is sent or given up. Throws 503 when the budget is spent.
   */
  reserve: (byteLength: number) => void
}

/**
 * Bytes of memory that answers may take together until their clients have read them. A record of 10 kB on the
 * wire can give an answer of 10 MB, so a hundred clients that read nothing would take a gigabyte.
 */
export interface AnswerBudget {
  enter(principal: Principal, request: Request, response: Response): AnswerReservation
}

export function createAnswerBudget(maxBytes: number, metrics: Metrics): AnswerBudget {
  const bytes = metrics.gauge(
    'sluice_http_answer_bytes',
    'Bytes of answers over 16 KiB (256 KiB where something was changed) that their clients have not read yet; at most BODIES_MAX_BYTES.',
  )
  const refusals = metrics.counter(
    'sluice_http_answers_refused_total',
    'Answers that were not given (503) because too many waited for their clients.',
  )
  refusals.inc(0)
  const shared = createSharedBytes(maxBytes, (used) => bytes.set(used))
  const hold = (principal: Principal, response: Response) => {
    const own = shared.enter(principal)
    const timer = setTimeout(() => response.destroy(), maxReadMs).unref()
    response.once('close', () => {
      clearTimeout(timer)
      own.release()
    })
    return own
  }
  return {
    enter(principal, { method }, response) {
      const free = ['GET', 'HEAD'].includes(method) ? freeBytes : freeWriteBytes
      let own: OwnBytes | undefined
      let kept = 0
      return {
        reserve(byteLength) {
          // After `close` nothing would release the reservation.
          if (response.closed || byteLength <= Math.max(free, kept)) return
          own ??= hold(principal, response)
          if (!own.take(byteLength - kept)) {
            refusals.inc()
            throw new Problem(503, 'ANSWERS_TOO_MANY', 'too many answers wait to be read; ask again', {
              headers: { 'retry-after': '1' },
            })
          }
          kept = byteLength
        },
      }
    },
  }
}

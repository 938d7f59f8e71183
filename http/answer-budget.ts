import type { Request, Response } from 'express'
import type { Metrics } from '#runtime/metrics.ts'
import type { Principal } from './access/principal.ts'
import { Problem } from './problem.ts'
import { createSharedBytes, type OwnBytes } from './shared-bytes.ts'

/** Smaller ones the kernel takes at once. */
const freeBytes = 16 * 1024
/** Of what changes something: once that is done a 503 would have it done twice, and its input bounds what it says. */
const freeWriteBytes = 256 * 1024
/** The largest, two bodies of 10 MiB, pass in it at half a Mbit/s. */
const maxTakingMs = 300_000

/** What one request's answer takes of the room. */
export interface AnswerReservation {
  /** Keeps so many bytes in all until the answer is sent, or given up. Throws 503 when there is no room. */
  keep: (byteLength: number) => void
}

/**
 * Bytes of memory that answers may take together while their clients read them: a record of 10 kB on the wire is answered with 10 MB,
 * and whoever asks a hundred times and reads nothing held a gigabyte.
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
    const timer = setTimeout(() => response.destroy(), maxTakingMs).unref()
    response.once('close', () => {
      clearTimeout(timer)
      own.leave()
    })
    return own
  }
  return {
    enter(principal, { method }, response) {
      const free = ['GET', 'HEAD'].includes(method) ? freeBytes : freeWriteBytes
      let own: OwnBytes | undefined
      let kept = 0
      return {
        keep(byteLength) {
          // Its client left while it was made: nothing is held, and nobody would say when to give it back.
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

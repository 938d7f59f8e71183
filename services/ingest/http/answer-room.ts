import type { Response } from 'express'
import type { Metrics } from '#runtime/metrics.ts'
import type { Principal } from '../access/principal.ts'
import { Problem } from './problem.ts'
import { createSharedBytes } from './shared-bytes.ts'

/** The largest, two bodies of 10 MiB, pass in it at half a Mbit/s. */
const maxTakingMs = 300_000

/**
 * Bytes of memory that answers may take together while their clients read them: a record of 10 kB on the wire is answered with 10 MB,
 * and whoever asks a hundred times and reads nothing held a gigabyte.
 */
export interface AnswerRoom {
  /** Keeps room until the answer is sent, or given up. Throws 503 when there is none. */
  keep(principal: Principal, response: Response, byteLength: number): void
}

export function createAnswerRoom(mostBytes: number, metrics: Metrics): AnswerRoom {
  const bytes = metrics.gauge(
    'sluice_http_answer_bytes',
    'Bytes of answers over 16 KiB that their clients have not read yet; at most BODIES_MAX_BYTES.',
  )
  const refusals = metrics.counter(
    'sluice_http_answers_refused_total',
    'Answers that were not given (503) because too many waited for their clients.',
  )
  refusals.inc(0)
  const shared = createSharedBytes(mostBytes, (used) => bytes.set(used))
  return {
    keep(principal, response, byteLength) {
      // Its client left while it was made: nothing is held, and nobody would say when to give it back.
      if (response.closed) return
      const own = shared.enter(principal)
      if (!own.take(byteLength)) {
        refusals.inc()
        throw new Problem(503, 'ANSWERS_TOO_MANY', 'too many answers wait to be read; ask again', {
          headers: { 'retry-after': '1' },
        })
      }
      const timer = setTimeout(() => response.destroy(), maxTakingMs).unref()
      response.once('close', () => {
        clearTimeout(timer)
        own.leave()
      })
    },
  }
}

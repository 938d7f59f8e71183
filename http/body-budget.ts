import type { Metrics } from '#runtime/metrics.ts'
import type { Principal } from './access/principal.ts'
import { Problem } from './problem.ts'
import { createSharedBytes, type OwnBytes } from './shared-bytes.ts'

/** What one request's body takes of the budget. */
export interface BodyReservation extends Pick<OwnBytes, 'release'> {
  /** Takes so many more bytes. Throws 503 when they do not fit now, 413 when they never do. */
  reserve: (byteLength: number) => void
  /** Counts a body that did not arrive in time. */
  noteSlow(): void
}

/**
 * Bytes of memory that request bodies, and what is made of them, may take together until their handlers end.
 */
export interface BodyBudget {
  enter(principal: Principal): BodyReservation
}

export function createBodyBudget(maxBytes: number, metrics: Metrics): BodyBudget {
  const bytes = metrics.gauge(
    'sluice_http_body_bytes',
    'Bytes that the bodies of requests under way take, decoded, with 640 for each chunk and 6,144 for each record; at most BODIES_MAX_BYTES.',
  )
  const refusals = metrics.counter(
    'sluice_http_bodies_refused_total',
    'Bodies that were not read: `room`: too many were under way, or it is too large for the room; `time`: it did not come.',
    ['reason'],
  )
  for (const reason of ['room', 'time']) refusals.inc({ reason }, 0)
  const shared = createSharedBytes(maxBytes, (used) => bytes.set(used))
  return {
    enter(principal) {
      const own = shared.enter(principal)
      return {
        reserve(byteLength) {
          if (own.take(byteLength)) return
          refusals.inc({ reason: 'room' })
          throw own.fitsAlone(byteLength) ? budgetSpent() : exceedsBudget()
        },
        release: () => own.release(),
        noteSlow: () => refusals.inc({ reason: 'time' }),
      }
    },
  }
}

/** 503 for a body that fits once others are done. */
function budgetSpent(): Problem {
  return new Problem(503, 'BODIES_TOO_MANY', 'too many bodies are under way; send it again', {
    headers: { 'retry-after': '1' },
  })
}

/** 413 for a body that never fits. */
function exceedsBudget(): Problem {
  const detail =
    'the body and its records take more memory than one sender is given: send less, of a batch fewer records at once'
  return new Problem(413, 'BODY_TOO_LARGE', detail)
}

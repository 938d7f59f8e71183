import type { Metrics } from '#runtime/metrics.ts'
import type { Principal } from '../access/principal.ts'
import { createSharedBytes, type OwnBytes } from './shared-bytes.ts'

/** What one request's body takes of the room. */
export interface BodyPlace extends OwnBytes {
  /** It did not come in time. */
  noteSlow(): void
}

/** Bytes of memory that the bodies of all requests under way may take together: from when they come until their handler is done. */
export interface BodyRoom {
  enter(principal: Principal): BodyPlace
}

export function createBodyRoom(mostBytes: number, metrics: Metrics): BodyRoom {
  const bytes = metrics.gauge(
    'sluice_http_body_bytes',
    'Bytes that the bodies of requests under way take, decoded, with 640 for each chunk; at most BODIES_MAX_BYTES.',
  )
  const refusals = metrics.counter(
    'sluice_http_bodies_refused_total',
    'Bodies that were not read to their end: `room`: too many were under way; `time`: it did not come.',
    ['reason'],
  )
  for (const reason of ['room', 'time']) refusals.inc({ reason }, 0)
  const shared = createSharedBytes(mostBytes, (used) => bytes.set(used))
  return {
    enter(principal) {
      const own = shared.enter(principal)
      return {
        take(byteLength) {
          const taken = own.take(byteLength)
          if (!taken) refusals.inc({ reason: 'room' })
          return taken
        },
        leave: () => own.leave(),
        noteSlow: () => refusals.inc({ reason: 'time' }),
      }
    },
  }
}

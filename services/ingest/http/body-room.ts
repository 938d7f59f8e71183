import type { Metrics } from '#runtime/metrics.ts'
import type { Principal } from '../access/principal.ts'

/** What one request's body takes of the room. */
export interface BodyPlace {
  /** Whether there was room for so much more memory; then it is taken. */
  take(byteLength: number): boolean
  /** It did not come in time. */
  noteSlow(): void
  /** Gives all of it back. */
  leave(): void
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
  let used = 0
  const usedBy = new Map<string, number>()
  const add = (who: string, byteLength: number) => {
    if (byteLength === 0) return
    used += byteLength
    bytes.set(used)
    const own = (usedBy.get(who) ?? 0) + byteLength
    if (own === 0) usedBy.delete(who)
    else usedBy.set(who, own)
  }
  return {
    enter(principal) {
      const who = principal.kind === 'key' ? principal.key.project.projectId : principal.kind
      const mostOwn = mostBytes * ownPart(principal)
      let taken = 0
      return {
        take(byteLength) {
          if (used + byteLength > mostBytes || (usedBy.get(who) ?? 0) + byteLength > mostOwn) {
            refusals.inc({ reason: 'room' })
            return false
          }
          taken += byteLength
          add(who, byteLength)
          return true
        },
        noteSlow: () => refusals.inc({ reason: 'time' }),
        leave() {
          add(who, -taken)
          taken = 0
        },
      }
    },
  }
}

/** Whoever sends slowly on purpose leaves half of it to others; without a key, where all are one, nearly all. The operator's gateways send for all projects. */
function ownPart({ kind }: Principal): number {
  if (kind === 'operator') return 1
  return kind === 'anonymous' ? 1 / 16 : 1 / 2
}

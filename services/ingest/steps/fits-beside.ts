import type { WaitingCall } from '#capture/otel/waiting-call.ts'

/** What waits of a project, opened. */
export interface Held {
  calls: number
  bytes: number
}

/** Of a project: 330 calls a second that wait for 30 s and are known for 30 s more, each of 1.6 kB. */
const most: Held = { calls: 20_000, bytes: 32 * 1024 * 1024 }

/**
 * Whether a part may wait too. Words without a span take at most half: spans that never come leave room for
 * those that do.
 */
export function fitsBeside(held: Held, added: Held, part: Pick<WaitingCall, 'span'>): boolean {
  const share = part.span === null ? 0.5 : 1
  return held.calls + added.calls <= share * most.calls && held.bytes + added.bytes <= share * most.bytes
}

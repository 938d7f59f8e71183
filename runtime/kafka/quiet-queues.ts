import { createRequire } from 'node:module'

interface RequestQueue {
  pending: unknown[]
  scheduleCheckPendingRequests: (this: RequestQueue) => void
}

let repaired = false

/**
 * Repairs kafkajs's request queue (tulios/kafkajs#1751), which checks for pending requests for ever after its
 * first use. While nothing is throttled its timer has a negative delay, which Node 24 reports
 * (TimeoutNegativeWarning) and raises to 1 ms: each connection wakes the process a thousand times a second. A
 * queue without pending requests needs no timer, as adding one schedules it again. Other warnings stay.
 */
export function quietQueues(): void {
  if (repaired) return
  repaired = true
  const load = createRequire(import.meta.url)
  const { prototype } = load('kafkajs/src/network/requestQueue/index.js') as { prototype: RequestQueue }
  const schedule = prototype.scheduleCheckPendingRequests
  prototype.scheduleCheckPendingRequests = function (this: RequestQueue) {
    if (this.pending.length > 0) schedule.call(this)
  }
}

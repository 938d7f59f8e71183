import { createRequire } from 'node:module'

interface RequestQueue {
  pending: unknown[]
  scheduleCheckPendingRequests: (this: RequestQueue) => void
}

let repaired = false

/**
 * Repairs kafkajs's request queue (tulios/kafkajs#1751). After its first use it looks for pending requests for ever, with a
 * timer whose delay is negative while there is nothing to throttle: Node 24 warns of it (TimeoutNegativeWarning) and makes it 1 ms, so
 * that each connection wakes the process a thousand times a second. A queue without pending requests needs no timer:
 * whatever adds one schedules it again. Other warnings stay as they are.
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

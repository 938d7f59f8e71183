import { createSetAside } from '../waiting/set-aside.ts'
import type { Asker, Parts } from './attempt.ts'
import { createAttemptDue } from './attempt-due.ts'
import { createBeginDeliveries } from './begin-deliveries.ts'
import { createDeliverFirst } from './deliver-first.ts'
import { createDeliveryHandler } from './delivery-handler.ts'
import { createFanOut } from './fan-out.ts'
import { createHandOver } from './hand-over.ts'
import { createRunAttempts, UnderWay } from './run-attempts.ts'
import { createFollowFailure, createWriteEnds } from './write-ends.ts'

/** Puts together what makes attempts. All of it shares the permits of the limiter. */
export function createDelivering(parts: Parts) {
  const shared = { ...parts, underWay: new UnderWay() }
  const follow = createFollowFailure(shared)
  const run = createRunAttempts({ ...shared, writeEnds: createWriteEnds({ ...shared, follow }) })
  const attemptDue = createAttemptDue({ ...shared, run, follow })
  const setAside = createSetAside(shared)
  const asker: Asker = {
    hasRecord: true,
    onSlow: async (delivery, written) => void (await setAside.goOn(delivery, written)),
  }
  const begin = createBeginDeliveries({ ...shared, run, asker })
  const first = createDeliverFirst({ ...shared, begin, attemptDue, handOver: createHandOver(shared), asker })
  return {
    /** For events of `event.raised`. */
    fanOut: createFanOut({ ...shared, first, begin }),
    /** For records of `webhook.delivery.due` and the retries. */
    deliver: createDeliveryHandler({ ...shared, attemptDue, setAside }),
    /** For attempts that wait in the database. */
    attemptDue,
    /** Resolves once no attempt is in flight. */
    drained: () => shared.underWay.drained(),
  }
}

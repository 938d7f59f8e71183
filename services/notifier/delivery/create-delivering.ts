import type { RecordHandler } from '#runtime/kafka/records.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'
import { createSetAside } from '../waiting/set-aside.ts'
import type { Asker, Parts } from './attempt.ts'
import { createAttemptDue, type AttemptDue } from './attempt-due.ts'
import { createBeginDeliveries } from './begin-deliveries.ts'
import { createDeliverFirst } from './deliver-first.ts'
import { createDeliveryHandler } from './delivery-handler.ts'
import { createFanOut, type FanOut } from './fan-out.ts'
import { createHandOver } from './hand-over.ts'
import { createRunAttempts, UnderWay } from './run-attempts.ts'
import { createFollowFailure, createWriteEnds } from './write-ends.ts'

export interface Delivering {
  /** Events of `event.raised`. */
  fanOut: FanOut
  /** Records of `webhook.delivery.due` and the retries. */
  deliver: RecordHandler<WebhookDelivery>
  /** Attempts that wait in the database. */
  attemptDue: AttemptDue
  /** Resolves once no attempt is in flight. */
  drained: () => Promise<void>
}

/** Puts together what makes attempts. All of it shares the permits of the limiter. */
export function createDelivering(parts: Parts): Delivering {
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
    fanOut: createFanOut({ ...shared, first, begin }),
    deliver: createDeliveryHandler({ ...shared, attemptDue, setAside }),
    attemptDue,
    drained: () => shared.underWay.drained(),
  }
}

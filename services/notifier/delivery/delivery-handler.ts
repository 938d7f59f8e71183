import type { RecordHandler } from '#runtime/kafka/records.ts'
import { deadLetter, type Outcome } from '#runtime/outcome.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'
import { checkDelivery } from '../steps/check-record.ts'
import type { SetAside } from '../waiting/set-aside.ts'
import type { Parts } from './attempt.ts'
import type { AttemptDue } from './attempt-due.ts'

/** Makes the attempt that a record asks for. What has no permit soon, or takes long, is set aside. */
export function createDeliveryHandler({
  attemptDue,
  limiter,
  setAside,
  eventTraces,
}: Pick<Parts, 'limiter' | 'eventTraces'> & {
  attemptDue: AttemptDue
  setAside: SetAside
}): RecordHandler<WebhookDelivery> {
  return async ({ value: delivery, span }) => {
    const fault = checkDelivery(delivery)
    if (fault !== undefined) return deadLetter(fault)
    if (span !== undefined) eventTraces?.set(delivery.event, span.context)
    const release = await limiter.acquireSoon(delivery)
    if (release === undefined) {
      limiter.holdBack(delivery)
      return setAside.wait(delivery, 'endpoint_full', { inMs: 0 })
    }
    let aside: Outcome | undefined
    const end = await attemptDue(delivery, release, {
      hasRecord: true,
      onSlow: async (slow, written) => {
        aside = await setAside.goOn(slow, written)
      },
    })
    if (end.kind !== 'decided') return setAside.wait(delivery, end.kind, { atMs: end.untilMs })
    return aside ?? end.outcome
  }
}

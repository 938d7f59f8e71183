import type { Item } from '../../api/call-api.ts'

type Delivery = Pick<Item<'GET /api/v1/webhooks/{id}/deliveries'>, 'status' | 'created_at' | 'attempts'>

/** As the API has it: whoever asks for more gets 409. */
const leftAfterMs = 3_600_000

/** Whether it can be sent again: it has ended, or nobody has attempted it for so long that nobody will. */
export function canBeSent({ status, created_at: createdAt, attempts }: Delivery, nowMs: number): boolean {
  if (status === 'failed' || status === 'delivered') return true
  const times = [createdAt, ...attempts.map(({ at }) => at)].map((time) => Date.parse(time))
  return nowMs - Math.max(...times) > leftAfterMs
}

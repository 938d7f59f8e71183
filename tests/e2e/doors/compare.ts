import { isDeepStrictEqual } from 'node:util'
import type { Door } from './doors.ts'
import type { Recorded } from './have-conversations.ts'
import type { Seen } from './seen-in-record.ts'

export interface Difference {
  conversation: string
  /** `recorded`: there is not one record. */
  field: keyof Seen | 'recorded'
  /** By the gateway, and by the door. */
  gateway: unknown
  door: unknown
}

const bodies: ReadonlySet<string> = new Set(['request_body', 'response_body'])

/** How the records of a door differ from those of the gateway: all fields; bodies only if it keeps them. */
export function compare(
  byGateway: Recorded,
  byDoor: Recorded,
  { rewrites }: Pick<Door, 'rewrites'>,
): Difference[] {
  return [...byGateway].flatMap(([conversation, [gateway]]): Difference[] => {
    const [door, ...more] = byDoor.get(conversation) ?? []
    if (gateway === undefined) throw new Error(`the gateway has no record of ${conversation}`)
    if (door === undefined || more.length > 0)
      return [{ conversation, field: 'recorded', gateway: 1, door: door === undefined ? 0 : 1 + more.length }]
    return (Object.keys(gateway) as (keyof Seen)[])
      .filter((field) => !(rewrites && bodies.has(field)))
      .filter((field) => !isDeepStrictEqual(gateway[field], door[field]))
      .map((field) => ({ conversation, field, gateway: gateway[field], door: door[field] }))
  })
}

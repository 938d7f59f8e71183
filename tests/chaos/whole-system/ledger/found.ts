import type { ClientCall } from '../load/client-call.ts'
import type { ChaosProject } from '../fixture/make-projects.ts'
import type { ReceiverName } from '../fixture/receivers.ts'

export type ProjectName = ChaosProject['name']

/** Everything that is compared in the end. */
export interface Found {
  calls: readonly ClientCall[]
  /** Answers that no client should get. */
  problems: readonly string[]
  /** Calls that the gateways count as lost (their disks were full). */
  lost: number
  projects: readonly FoundProject[]
  /** One entry a row. */
  stored: readonly { project: ProjectName; id: string }[]
  /** One entry a failing score, and one a `threat_detected` event: `request/scorer`. */
  unsafeScores: readonly string[]
  threatEvents: readonly string[]
  /** Names of scorers in order, by comma, and of how many calls. A scorer stands as often as it has scored. */
  scorerSets: readonly { project: ProjectName; scorers: string; calls: number }[]
  /** Which roll-ups say something else than a recount. */
  rollups: readonly { project: ProjectName; table: string; rows: number; isRight: boolean }[]
  deliveries: readonly FoundDelivery[]
  /** `event/webhook` of what should have made a delivery, and of the deliveries that are there. */
  deliveriesExpected: readonly string[]
  deliveriesMade: readonly string[]
  receipts: readonly { receiver: ReceiverName; deliveryId: string; taken: number }[]
  /** Rows without what they belong to, by what they are. */
  orphans: Readonly<Record<string, number>>
  /** What is left over where nothing should be, by what it is. */
  leftOver: Readonly<Record<string, number>>
}

export interface FoundProject {
  name: ProjectName
  /** The limited one's limit, and what it had used before; null: no limit. */
  quota: { limit: number; usedBefore: number } | null
  /** `requests_this_period` */
  counter: number
  /** The names of the scorers that have to have scored each call, in order. */
  scorers: readonly string[]
  usageEvents: number
  /** Calls whose bodies are stored. */
  withBodies: number
  keepsContent: boolean
}

export interface FoundDelivery {
  id: string
  receiver: ReceiverName
  status: string
  attempts: number
}

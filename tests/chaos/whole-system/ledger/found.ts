import type { ClientCall } from '../load/client-call.ts'
import type { ChaosProject } from '../fixture/make-projects.ts'
import type { ReceiverName } from '../fixture/receivers.ts'

export type ProjectName = ChaosProject['name']

/** Everything that is compared at the end. */
export interface Found {
  calls: readonly ClientCall[]
  /** Answers that no client should get. */
  problems: readonly string[]
  /** Calls that the gateways count as lost (their disks were full). */
  lost: number
  projects: readonly FoundProject[]
  /** One entry per row. */
  stored: readonly { project: ProjectName; id: string }[]
  /** One entry per failing score and one per `threat_detected` event: `request/scorer`. */
  unsafeScores: readonly string[]
  threatEvents: readonly string[]
  /**
   * Names of scorers, sorted, separated by commas, and the number of calls. A scorer appears as often as it
   * has scored.
   */
  scorerSets: readonly { project: ProjectName; scorers: string; calls: number }[]
  /** Whether each roll-up equals a recount. */
  rollups: readonly { project: ProjectName; table: string; rows: number; isRight: boolean }[]
  deliveries: readonly FoundDelivery[]
  /** `event/webhook` of expected deliveries, and of those that exist. */
  deliveriesExpected: readonly string[]
  deliveriesMade: readonly string[]
  receipts: readonly { receiver: ReceiverName; deliveryId: string; taken: number }[]
  /** Rows without their parent, by kind. */
  orphans: Readonly<Record<string, number>>
  /** Unexpected leftovers, by kind. */
  leftOver: Readonly<Record<string, number>>
}

export interface FoundProject {
  name: ProjectName
  /** The project's limit and what it had used before; null: no limit. */
  quota: { limit: number; usedBefore: number } | null
  /** `requests_this_period` */
  counter: number
  /** Names of the scorers that must have scored each call, sorted. */
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

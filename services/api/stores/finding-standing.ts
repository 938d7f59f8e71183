import type { FindingState } from '#schemas/event-data.ts'
import type { FindingRow } from './finding-store.ts'

/** What a person decides of a finding. */
export interface Standing {
  state: FindingState
  muted_until: Date | null
  owner_id: string | null
  owner_login: string | null
}

/** As in `finding_changes`. */
export type StoredStanding = Omit<Standing, 'muted_until'> & {
  muted_until: string | null
  /** After an undo: the login of the former owner who could not be restored. */
  lost_owner?: string
}

export function standingOf({ state, muted_until, owner_id, owner_login }: FindingRow): Standing {
  return { state, muted_until, owner_id, owner_login }
}

export const toStored = (standing: Standing): StoredStanding => ({
  ...standing,
  muted_until: standing.muted_until?.toISOString() ?? null,
})

export const ofStored = (stored: StoredStanding): Standing => ({
  ...stored,
  muted_until: stored.muted_until === null ? null : new Date(stored.muted_until),
})

export const isSame = (one: Standing, other: Standing) =>
  JSON.stringify(toStored({ ...one })) === JSON.stringify(toStored({ ...one, ...other }))

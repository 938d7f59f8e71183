import type { Tier } from '#schemas/tiers.ts'

export const keyScopes = ['ingest', 'read', 'all'] as const
export type KeyScope = (typeof keyScopes)[number]

/**
 * What a route asks of its caller. `ingest` and `read`: a key of that scope or of `all`, or the operator. `all`: a key of
 * scope `all`, or the operator. `operator`: INTERNAL_API_SECRET. `public`: nothing.
 */
export type AccessLevel = KeyScope | 'operator' | 'public'

/** What ingest has to know of a project. */
export interface ProjectSettings {
  projectId: string
  tier: Tier
  zeroContentRetention: boolean
}

/** A key that is in force, and its project. */
export interface ProjectKey {
  keyId: string
  scope: KeyScope
  /** Unix milliseconds; null: never. */
  expiresAtMs: number | null
  project: ProjectSettings
}

export type Principal = { kind: 'operator' } | { kind: 'key'; key: ProjectKey } | { kind: 'anonymous' }

import type { Tier } from '#schemas/tiers.ts'
import { Problem } from '../problem.ts'

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

/** From the least rights to the most: `docs/decisions/0050-people-behind-the-api.md` says what each may. */
export const roles = ['viewer', 'analyst', 'admin'] as const
export type Role = (typeof roles)[number]

/** Somebody who is signed in to the dashboard, which speaks for them. */
export interface SignedIn {
  personId: string
  login: string
  name: string
  role: Role
  /** Null: every project. */
  projectIds: readonly string[] | null
  loginId: string
  /** Where they are, as the dashboard saw it. */
  address: string | null
}

export type Principal =
  | { kind: 'operator' }
  | { kind: 'person'; person: SignedIn }
  | { kind: 'key'; key: ProjectKey }
  | { kind: 'anonymous' }

/** The project of the key. Throws 403 when the request names another. */
export function projectOfKey({ project }: ProjectKey, requested: string | undefined): ProjectSettings {
  if (requested === undefined || requested === project.projectId) return project
  throw new Problem(403, 'OTHER_PROJECT', 'project_id: the API key belongs to another project')
}

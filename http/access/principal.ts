import type { KeyLimits } from '#schemas/key-limits.ts'
import type { Tier } from '#schemas/tiers.ts'
import { Problem } from '../problem.ts'

export const keyScopes = ['ingest', 'read', 'all'] as const
export type KeyScope = (typeof keyScopes)[number]

/**
 * Who may call a route. `ingest` and `read`: a key of that scope or of `all`, or the operator. `all`: a key
 * of scope `all`, or the operator. `operator`: INTERNAL_API_SECRET. `public`: everybody.
 */
export type AccessLevel = KeyScope | 'operator' | 'public'

/** The settings of a project that ingest needs. */
export interface ProjectSettings {
  projectId: string
  tier: Tier
  zeroContentRetention: boolean
  /** Whether what detectors find is masked before it is stored. Absent: no. */
  masks?: boolean
}

/** A valid key, and its project. */
export interface ProjectKey {
  keyId: string
  scope: KeyScope
  /** Unix milliseconds; null: never. */
  expiresAtMs: number | null
  project: ProjectSettings
  /** Absent: none. */
  limits?: KeyLimits
}

/** In order of rights; `docs/decisions/0050-people-behind-the-api.md` says what each may do. */
export const roles = ['viewer', 'analyst', 'admin'] as const
export type Role = (typeof roles)[number]

/** A user who is signed in to the dashboard, on whose behalf the dashboard asks. */
export interface SignedIn {
  personId: string
  login: string
  name: string
  role: Role
  /** Null: every project. */
  projectIds: readonly string[] | null
  loginId: string
  /** The browser's address, as the dashboard saw it. */
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

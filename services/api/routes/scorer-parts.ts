import type { Clock } from '#runtime/clock.ts'
import type { Sealer } from '#runtime/sealing.ts'
import type { Principal } from '#http/access/principal.ts'
import type { ProjectDatabases } from '../stores/project-database.ts'

export interface ScorerRoutesOptions {
  databases: ProjectDatabases
  sealer: Sealer
  clock: Clock
}

/** The name under which versions and settings are kept. */
export function authorOf(principal: Principal): string {
  if (principal.kind === 'person') return principal.person.login
  return principal.kind === 'key' ? principal.key.keyId : principal.kind
}

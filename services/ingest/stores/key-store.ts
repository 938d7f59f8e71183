import type { Pool } from 'pg'
import { query } from '#runtime/postgres.ts'
import { idFromUuid, idToUuid } from '#schemas/ids.ts'
import type { Tier } from '#schemas/tiers.ts'
import type { KeyScope, ProjectKey, ProjectSettings } from '../access/principal.ts'

/** Keys and project settings as Postgres has them now. */
export interface KeyStore {
  /** By SHA-256 of the key's digits; undefined when there is none or it is revoked. */
  findKey(hash: Buffer): Promise<ProjectKey | undefined>
  findProject(projectId: string): Promise<ProjectSettings | undefined>
}

interface ProjectRow {
  project_id: string
  tier: Tier
  zero_content_retention: boolean
}

interface KeyRow extends ProjectRow {
  id: string
  scope: KeyScope
  expires_at: Date | null
}

const settings = 'p.id as project_id, s.tier, p.zero_content_retention'

export function createKeyStore(pool: Pool): KeyStore {
  return {
    async findKey(hash) {
      const { rows } = await query<KeyRow>(
        pool,
        `select k.id, k.scope, k.expires_at, ${settings}
         from api_keys k join projects p on p.id = k.project_id join subscriptions s on s.project_id = p.id
         where k.secret_sha256 = $1 and k.revoked_at is null`,
        [hash],
      )
      const row = rows[0]
      if (row === undefined) return undefined
      return {
        keyId: idFromUuid('key', row.id),
        scope: row.scope,
        expiresAtMs: row.expires_at === null ? null : row.expires_at.getTime(),
        project: settingsOf(row),
      }
    },
    async findProject(projectId) {
      const { rows } = await query<ProjectRow>(
        pool,
        `select ${settings} from projects p join subscriptions s on s.project_id = p.id where p.id = $1`,
        [idToUuid(projectId)],
      )
      return rows[0] === undefined ? undefined : settingsOf(rows[0])
    },
  }
}

function settingsOf(row: ProjectRow): ProjectSettings {
  return {
    projectId: idFromUuid('project', row.project_id),
    tier: row.tier,
    zeroContentRetention: row.zero_content_retention,
  }
}

import type { Pool } from 'pg'
import { query } from '#runtime/postgres.ts'
import { idFromUuid, idToUuid } from '#schemas/ids.ts'
import type { CaptureLevel, KeyLimits, WhenUnknown } from '#schemas/key-limits.ts'
import type { Tier } from '#schemas/tiers.ts'
import { inProjectTransaction } from './project-transaction.ts'
import type { KeyScope, ProjectKey, ProjectSettings } from './principal.ts'

/** Keys and project settings, read from Postgres. */
export interface KeyStore {
  /** By SHA-256 of the key's digits; undefined: unknown or revoked. */
  findKey(hash: Buffer): Promise<ProjectKey | undefined>
  findProject(projectId: string): Promise<ProjectSettings | undefined>
}

interface ProjectRow {
  project_id: string
  tier: Tier
  zero_content_retention: boolean
  mask: boolean
}

interface KeyRow extends ProjectRow, LimitColumns {
  id: string
  scope: KeyScope
  expires_at: Date | null
}

/** The columns of a key's limits. */
export interface LimitColumns {
  user_id: string | null
  team: string | null
  models: string[] | null
  capture: CaptureLevel
  rate_limit_per_minute: number | null
  monthly_budget_usd: string | null
  when_unknown: WhenUnknown
}

export function createKeyStore(pool: Pool): KeyStore {
  return {
    async findKey(hash) {
      const { rows } = await query<KeyRow>(
        pool,
        // Runs with its owner's rights: the project is not known before the key is.
        'select * from find_key($1)',
        [hash],
      )
      const row = rows[0]
      if (row === undefined) return undefined
      return {
        keyId: idFromUuid('key', row.id),
        scope: row.scope,
        expiresAtMs: row.expires_at === null ? null : row.expires_at.getTime(),
        project: settingsOf(row),
        limits: limitsOf(row),
      }
    },
    async findProject(projectId) {
      const { rows } = await inProjectTransaction(pool, projectId, (client) =>
        client.query<ProjectRow>(
          `select p.id as project_id, s.tier, p.zero_content_retention, p.mask
           from projects p join subscriptions s on s.project_id = p.id where p.id = $1`,
          [idToUuid(projectId)],
        ),
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
    masks: row.mask,
  }
}

/** A key's limits from its columns. */
function limitsOf(row: LimitColumns): KeyLimits {
  return {
    user: row.user_id,
    team: row.team,
    models: row.models,
    capture: row.capture,
    ratePerMinute: row.rate_limit_per_minute,
    monthlyBudgetUsd: row.monthly_budget_usd === null ? null : Number(row.monthly_budget_usd),
    whenUnknown: row.when_unknown,
  }
}

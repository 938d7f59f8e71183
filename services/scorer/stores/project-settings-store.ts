import type { Pool } from 'pg'
import { ageAt, type Clock } from '#runtime/clock.ts'
import { query } from '#runtime/postgres.ts'
import { idToUuid } from '#schemas/ids.ts'
import type { JudgeMode } from '../scoring/judge-modes.ts'

/** A project's scoring settings. */
export interface ScoringSettings {
  judgeMode: JudgeMode
  /** Sampling share (0 to 1) by scorer; scorers without one score everything. */
  sampling: Readonly<Record<string, number>>
  /** Whether the project ever requested an erasure: only then each call is looked up. */
  hasErasures: boolean
}

/** For unknown projects: one was deleted, and its last calls are scored by default settings. */
const defaults: ScoringSettings = { judgeMode: 'always', sampling: {}, hasErasures: false }

/** A change takes effect within this time. */
const freshMs = 5_000
/** Beyond this, the least recently used are evicted. */
const maxProjects = 10_000

export interface ProjectSettingsStore {
  /** At most seconds old. Throws TransientError if Postgres is away and the cache is older. */
  of(projectId: string): Promise<ScoringSettings>
}

interface Known {
  settings: Promise<ScoringSettings>
  askedAtMs: number
}

export function createProjectSettingsStore(pool: Pool, clock: Clock): ProjectSettingsStore {
  const known = new Map<string, Known>()
  return {
    of(projectId) {
      const found = known.get(projectId)
      if (found !== undefined && ageAt(clock.now(), found.askedAtMs) < freshMs) return found.settings
      const settings = readSettings(pool, projectId)
      // Shared by concurrent jobs. A failure is theirs too, and is not cached.
      settings.catch(() => known.delete(projectId))
      known.delete(projectId)
      known.set(projectId, { settings, askedAtMs: clock.now() })
      const oldest = known.size > maxProjects ? known.keys().next().value : undefined
      if (oldest !== undefined) known.delete(oldest)
      return settings
    },
  }
}

async function readSettings(pool: Pool, projectId: string): Promise<ScoringSettings> {
  const { rows } = await query<{
    judge_mode: JudgeMode
    sampling: Record<string, number>
    has_erasures: boolean
  }>(
    pool,
    `select judge_mode, sampling, exists (select from erasures e where e.project_id = p.id) as has_erasures
     from projects p where id = $1`,
    [idToUuid(projectId)],
  )
  const [row] = rows
  return row === undefined
    ? defaults
    : { judgeMode: row.judge_mode, sampling: row.sampling, hasErasures: row.has_erasures }
}

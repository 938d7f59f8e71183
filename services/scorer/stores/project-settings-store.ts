import type { Pool } from 'pg'
import { ageAt, type Clock } from '#runtime/clock.ts'
import { query } from '#runtime/postgres.ts'
import { idToUuid } from '#schemas/ids.ts'
import type { JudgeMode } from '../scoring/judge-modes.ts'

/** How a project wants its calls scored. */
export interface ScoringSettings {
  judgeMode: JudgeMode
  /** Share of requests (0 to 1) by scorer; a scorer that is not named scores all. */
  sampling: Readonly<Record<string, number>>
  /** Whether it has ever asked to erase something: only then is each of its calls looked up. */
  hasErasures: boolean
}

/** Of a project that is not known: it was deleted, and its last calls are scored like any other's. */
const defaults: ScoringSettings = { judgeMode: 'always', sampling: {}, hasErasures: false }

/** A change counts in every scorer after so long. */
const freshMs = 5_000
/** Beyond so many the ones that were asked for longest ago are forgotten. */
const maxProjects = 10_000

export interface ProjectSettingsStore {
  /** At most some seconds old. Throws TransientError while Postgres is away and what is known is older than that. */
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
      // Shared by the jobs that ask meanwhile; a failure is theirs too, and is not kept.
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

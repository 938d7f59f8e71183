import type { Pool } from 'pg'
import { ageAt, type Clock } from '#runtime/clock.ts'
import { query } from '#runtime/postgres.ts'
import { idToUuid } from '#schemas/ids.ts'
import type { ProjectScorers } from '../scoring/custom/project-scorers.ts'
import type { JudgeMode } from '../scoring/judge-modes.ts'
import type { ProjectScorerStore } from './project-scorer-store.ts'

/** A project's scoring settings. */
export interface ScoringSettings {
  judgeMode: JudgeMode
  /** Sampling share (0 to 1) by scorer; scorers without one score everything. */
  sampling: Readonly<Record<string, number>>
  /** Whether the project ever requested an erasure: only then each call is looked up. */
  hasErasures: boolean
  /** Scorers that the project switched off: they write no score. */
  off: ReadonlySet<string>
  /** The project's own unsafe thresholds, by scorer. */
  failAt: Readonly<Record<string, number>>
  /** The scorers that the project made. */
  scorers: ProjectScorers
}

/** For unknown projects: one was deleted, and its last calls are scored by default settings. */
const defaults: Read = {
  judgeMode: 'always',
  sampling: {},
  hasErasures: false,
  off: new Set(),
  failAt: {},
  stamp: null,
}

/** A change takes effect within this time. */
const freshMs = 5_000
/** Beyond this, the least recently used are evicted. */
const maxProjects = 10_000

export interface ProjectSettingsStore {
  /** At most seconds old. Throws TransientError if Postgres is away and the cache is older. */
  of(projectId: string): Promise<ScoringSettings>
}

/** Without compiled scorers, whose memory their own store bounds. */
type Read = Omit<ScoringSettings, 'scorers'> & { stamp: string | null }

interface Known {
  settings: Promise<Read>
  askedAtMs: number
}

export function createProjectSettingsStore(
  pool: Pool,
  clock: Clock,
  scorers: ProjectScorerStore,
): ProjectSettingsStore {
  const known = new Map<string, Known>()
  const read = (projectId: string): Promise<Read> => {
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
  }
  return {
    async of(projectId) {
      const { stamp, ...settings } = await read(projectId)
      return { ...settings, scorers: await scorers.of(projectId, stamp) }
    },
  }
}

interface SettingsRow {
  judge_mode: JudgeMode
  sampling: Record<string, number>
  has_erasures: boolean
  scorer_settings: { scorer: string; enabled: boolean; fail_at: number | null }[]
  scorers_stamp: string | null
}

// The stamp saves reading up to 4.5 MB of definitions every five seconds.
const settingsSql = `
  select judge_mode, sampling, exists (select from erasures e where e.project_id = p.id) as has_erasures,
    (select coalesce(json_agg(json_build_object('scorer', s.scorer, 'enabled', s.enabled, 'fail_at', s.fail_at)), '[]')
      from project_scorer_settings s where s.project_id = p.id) as scorer_settings,
    (select md5(string_agg(s.id || ' ' || s.version || ' ' || s.name, ',' order by s.id))
      from project_scorers s where s.project_id = p.id and s.enabled) as scorers_stamp
  from projects p where id = $1`

async function readSettings(pool: Pool, projectId: string): Promise<Read> {
  const { rows } = await query<SettingsRow>(pool, settingsSql, [idToUuid(projectId)])
  const [row] = rows
  if (row === undefined) return defaults
  const own = row.scorer_settings
  return {
    judgeMode: row.judge_mode,
    sampling: row.sampling,
    hasErasures: row.has_erasures,
    off: new Set(own.filter(({ enabled }) => !enabled).map(({ scorer }) => scorer)),
    failAt: Object.fromEntries(
      own.flatMap(({ scorer, fail_at: failAt }) => (failAt === null ? [] : [[scorer, failAt]])),
    ),
    stamp: row.scorers_stamp,
  }
}

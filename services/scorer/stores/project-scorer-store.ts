import type { Pool } from 'pg'
import type { Log } from '#runtime/log.ts'
import { query } from '#runtime/postgres.ts'
import { idToUuid } from '#schemas/ids.ts'
import {
  makeProjectScorers,
  noProjectScorers,
  type ProjectScorerRow,
  type ProjectScorers,
} from '../scoring/custom/project-scorers.ts'

/** Compiled scorers of projects, by the stamp of their rows. */
export interface ProjectScorerStore {
  /** `stamp`: changes with every change of the project's scorers; null: it has none. */
  of(projectId: string, stamp: string | null): Promise<ProjectScorers>
}

/** Of compiled scorers, beside those of one project: 60 MB at most. */
const maxKeptBytes = 64 * 1024 * 1024
/** Measured: a compiled RE2 instruction, and a character of a keyword with its share of closures. */
const bytesOfStep = 240
const bytesOfUnit = 25

interface Kept {
  stamp: string
  bytes: number
  scorers: ProjectScorers
}

export function createProjectScorerStore(pool: Pool, log: Log): ProjectScorerStore {
  const reading = new Map<string, Promise<ProjectScorers>>()
  const kept = new Map<string, Kept>()
  let keptBytes = 0
  const forget = (projectId: string) => {
    keptBytes -= kept.get(projectId)?.bytes ?? 0
    kept.delete(projectId)
  }
  async function read(projectId: string, stamp: string): Promise<ProjectScorers> {
    const rows = await readRows(pool, projectId)
    const scorers = makeProjectScorers(rows)
    for (const { name, problem } of scorers.broken)
      log.error({ project_id: projectId, scorer: name, reason: problem }, 'project scorer cannot be read')
    forget(projectId)
    const steps = scorers.custom.reduce((sum, scorer) => sum + scorer.steps, 0)
    const bytes = bytesOfUnit * JSON.stringify(rows).length + bytesOfStep * steps
    kept.set(projectId, { stamp, bytes, scorers })
    keptBytes += bytes
    for (const oldest of kept.keys()) {
      if (keptBytes <= maxKeptBytes || oldest === projectId) break
      forget(oldest)
    }
    return scorers
  }
  return {
    of(projectId, stamp) {
      if (stamp === null) {
        forget(projectId)
        return Promise.resolve(noProjectScorers)
      }
      const known = kept.get(projectId)
      if (known?.stamp === stamp) {
        // The least recently used stands first.
        kept.delete(projectId)
        kept.set(projectId, known)
        return Promise.resolve(known.scorers)
      }
      // Shared by concurrent jobs, which would each read and compile megabytes.
      const key = `${projectId} ${stamp}`
      const pending = reading.get(key) ?? read(projectId, stamp).finally(() => reading.delete(key))
      reading.set(key, pending)
      return pending
    },
  }
}

async function readRows(pool: Pool, projectId: string): Promise<ProjectScorerRow[]> {
  const { rows } = await query<ProjectScorerRow>(
    pool,
    `select id, name, version, definition, description, severity, owasp_category
     from project_scorers where project_id = $1 and enabled order by name`,
    [idToUuid(projectId)],
  )
  return rows
}

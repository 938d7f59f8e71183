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

/** Characters of definitions kept compiled; compiled patterns take about twenty times as much memory. */
const maxKeptUnits = 8 * 1024 * 1024

interface Kept {
  stamp: string
  units: number
  scorers: ProjectScorers
}

export function createProjectScorerStore(pool: Pool, log: Log): ProjectScorerStore {
  const kept = new Map<string, Kept>()
  let keptUnits = 0
  const forget = (projectId: string) => {
    keptUnits -= kept.get(projectId)?.units ?? 0
    kept.delete(projectId)
  }
  return {
    async of(projectId, stamp) {
      if (stamp === null) {
        forget(projectId)
        return noProjectScorers
      }
      const known = kept.get(projectId)
      if (known?.stamp === stamp) {
        // The least recently used stands first.
        kept.delete(projectId)
        kept.set(projectId, known)
        return known.scorers
      }
      const rows = await readRows(pool, projectId)
      const scorers = makeProjectScorers(rows)
      for (const { name, problem } of scorers.broken)
        log.error({ project_id: projectId, scorer: name, reason: problem }, 'project scorer cannot be read')
      forget(projectId)
      const units = JSON.stringify(rows).length
      kept.set(projectId, { stamp, units, scorers })
      keptUnits += units
      for (const oldest of kept.keys()) {
        if (keptUnits <= maxKeptUnits || oldest === projectId) break
        forget(oldest)
      }
      return scorers
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

import { ageAt } from '#runtime/clock.ts'
import type { Log } from '#runtime/log.ts'
import { CredentialRefused, maxStaleMs, type AskProject, type ProjectSettings } from './ask-project.ts'
import type { OwnProject } from './own-project.ts'

/**
 * Settings of the project that a record names, or of the gateway's own if it names none. Null: no such
 * project. Rejects when they are unknown at the moment.
 */
export type FindProject = (projectId: string | undefined) => Promise<ProjectSettings | null>

interface Cached {
  settings: ProjectSettings | null
  askedMs: number
  answeredMs: number
}

const validMs = 60_000
const maxCached = 10_000

interface ProjectDirectoryOptions {
  /** Undefined without SERVICE_API_KEY. */
  own: OwnProject | undefined
  ask: AskProject
  /** Unix milliseconds. */
  now: () => number
  log: Log
}

/**
 * Caches answers for a minute, or for an hour while the API service is down. A rejected credential ends that.
 */
export function createProjectDirectory({ own, ask, now, log }: ProjectDirectoryOptions): FindProject {
  const cache = new Map<string, Cached>()
  const asking = new Map<string, Promise<ProjectSettings | null>>()
  let isFailing = false

  const askNow = async (projectId: string): Promise<ProjectSettings | null> => {
    let settings: ProjectSettings | null
    let answeredMs = now()
    try {
      settings = await ask(projectId)
      isFailing = false
    } catch (error) {
      // The credential is used for all projects: drop every cached answer.
      if (error instanceof CredentialRefused) cache.clear()
      const last = cache.get(projectId)
      if (last === undefined || ageAt(now(), last.answeredMs) >= maxStaleMs) throw error
      if (!isFailing)
        log.warn({ err: error }, 'using cached project settings: the API service is unavailable')
      isFailing = true
      ;({ settings, answeredMs } = last)
    }
    cache.delete(projectId)
    cache.set(projectId, { settings, askedMs: now(), answeredMs })
    const [oldest] = cache.keys()
    if (cache.size > maxCached && oldest !== undefined) cache.delete(oldest)
    return settings
  }
  return async (projectId) => {
    const ownSettings = own?.settings()
    if (projectId === undefined || projectId === ownSettings?.projectId) {
      const problem = own?.problem() ?? null
      if (ownSettings === undefined || problem !== null)
        throw new Error(problem ?? 'the record names no project')
      return ownSettings
    }
    const last = cache.get(projectId)
    if (last !== undefined && ageAt(now(), last.askedMs) < validMs) return last.settings
    const asked = asking.get(projectId) ?? askNow(projectId).finally(() => asking.delete(projectId))
    asking.set(projectId, asked)
    return asked
  }
}

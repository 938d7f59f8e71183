import { ageAt } from '#runtime/clock.ts'
import type { Log } from '#runtime/log.ts'
import { CredentialRefused, maxStaleMs, type AskProject, type ProjectSettings } from './ask-project.ts'
import type { OwnProject } from './own-project.ts'

/** Settings of the project that a record names; of the gateway's own when it names none. Null: there is no such project. Rejects when nobody knows now. */
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

/** Answers are used for a minute, and for an hour while the API service is away; not once it refuses to say. */
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
      // Of all projects, whose credential it is: when the service is away next, nothing may hold again.
      if (error instanceof CredentialRefused) cache.clear()
      const last = cache.get(projectId)
      if (last === undefined || ageAt(now(), last.answeredMs) >= maxStaleMs) throw error
      if (!isFailing) log.warn({ err: error }, 'what the API service said last of projects holds')
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

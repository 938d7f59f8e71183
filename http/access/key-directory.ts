import type { Clock } from '#runtime/clock.ts'
import { SluiceError } from '#runtime/errors.ts'
import { unavailable } from '../problem.ts'
import type { KeyStore } from './key-store.ts'
import type { ProjectKey, ProjectSettings } from './principal.ts'
import { createReadThroughCache } from './read-through-cache.ts'

/** The project of a key, and a project's settings; cached for up to 30 s. */
export interface KeyDirectory {
  /**
   * The key with this SHA-256; undefined: unknown or revoked. Rejects with 503 when Postgres cannot be asked.
   */
  findKey(hash: Buffer): Promise<ProjectKey | undefined>
  findProject(projectId: string): Promise<ProjectSettings | undefined>
  /** Drops what is cached of this project, whose key or setting changed. Null: of every project. */
  forgetProject(projectId: string | null): void
}

interface KeyDirectoryOptions {
  store: KeyStore
  clock: Clock
  receivesChanges: () => boolean
}

const timing = { freshMs: 30_000, staleMs: 60_000, capacity: 10_000 }

export function createKeyDirectory({ store, clock, receivesChanges }: KeyDirectoryOptions): KeyDirectory {
  const keys = createReadThroughCache<ProjectKey>({
    load: (hash) => store.findKey(Buffer.from(hash, 'hex')),
    clock,
    receivesChanges,
    ...timing,
  })
  const projects = createReadThroughCache<ProjectSettings>({
    load: (projectId) => store.findProject(projectId),
    clock,
    receivesChanges,
    ...timing,
  })
  return {
    findKey: (hash) => orUnavailable(keys.find(hash.toString('hex'))),
    findProject: (projectId) => orUnavailable(projects.find(projectId)),
    forgetProject(projectId) {
      keys.forget(({ project }) => projectId === null || project.projectId === projectId)
      projects.forget((project) => projectId === null || project.projectId === projectId)
    },
  }
}

async function orUnavailable<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer
  } catch (error) {
    if (!(error instanceof SluiceError) || error.retry === 'never') throw error
    throw unavailable('KEYS_UNAVAILABLE', 'API keys cannot be checked at the moment', error)
  }
}

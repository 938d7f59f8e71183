import { ageAt } from '#runtime/clock.ts'
import { messageOf } from '#runtime/errors.ts'
import type { Log } from '#runtime/log.ts'
import { CredentialRefused, maxStaleMs, type AskProject, type ProjectSettings } from './ask-project.ts'
import { createRememberedProject } from './remembered-project.ts'

/** The project of SERVICE_API_KEY, with which the gateway posts records. */
export interface OwnProject {
  /**
   * Fetches the settings once, so that the first records know their project. Delays the start by a few
   * seconds at most.
   */
  start(): Promise<void>
  stop(): void
  /** The last answer, of this process or an earlier one; undefined without one. */
  settings(): ProjectSettings | undefined
  /**
   * Why records may not be published with these settings, or null: there are none, the key was rejected, or
   * an hour has passed without confirmation.
   */
  problem(): string | null
}

interface OwnProjectOptions {
  ask: AskProject
  /** Where the last answer is stored. */
  directory: string
  key: string
  /** Unix milliseconds. */
  now: () => number
  log: Log
}

/** Together with the request timeout, a revoked key is noticed within a minute. */
const askEveryMs = 50_000
/** Interval while there is no answer. */
const askAgainMs = 5_000

export function createOwnProject({ ask, now, log, ...options }: OwnProjectOptions): OwnProject {
  const remembered = createRememberedProject({ ...options, log })
  let settings: ProjectSettings | undefined
  /** Undefined after the key was rejected, until an answer accepts it again. */
  let confirmedMs: number | undefined
  let problem: string | null = null
  let timer: NodeJS.Timeout | undefined
  let isStopped = false

  /** Whether the API service answered about the key. */
  const refresh = async (): Promise<boolean> => {
    try {
      const answer = await ask()
      if (answer === null) throw new CredentialRefused('the key belongs to no project')
      settings = answer
      confirmedMs = now()
      problem = null
      return true
    } catch (error) {
      if (problem === null)
        log.warn({ err: error }, "the project's settings cannot be fetched from the API service")
      problem = messageOf(error)
      if (!(error instanceof CredentialRefused)) return false
      confirmedMs = undefined
      return true
    }
  }
  const renew = async () => {
    const hasAnswered = await refresh()
    // Schedule before the disk write, which may hang.
    if (!isStopped) timer = setTimeout(() => void renew(), problem === null ? askEveryMs : askAgainMs).unref()
    if (hasAnswered && settings !== undefined) await remembered.write({ settings, confirmedMs })
  }

  return {
    async start() {
      const last = await remembered.read()
      settings = last?.settings
      confirmedMs = last?.confirmedMs
      await renew()
    },
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
    settings: () => settings,
    problem() {
      const isConfirmed = confirmedMs !== undefined && ageAt(now(), confirmedMs) < maxStaleMs
      return isConfirmed ? null : (problem ?? 'the project settings have not been confirmed for an hour')
    },
  }
}

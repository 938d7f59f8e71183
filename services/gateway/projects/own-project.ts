import { ageAt } from '#runtime/clock.ts'
import { messageOf } from '#runtime/errors.ts'
import type { Log } from '#runtime/log.ts'
import { CredentialRefused, maxStaleMs, type AskProject, type ProjectSettings } from './ask-project.ts'
import { createRememberedProject } from './remembered-project.ts'

/** The project whose key the gateway posts records with. */
export interface OwnProject {
  /** Asks once, so that the first records know whose they are; a service that is away holds the start up for some seconds at most. */
  start(): Promise<void>
  stop(): void
  /** The last answer, of this process or one before it; undefined when there was none. */
  settings(): ProjectSettings | undefined
  /** Why nothing may be published by these settings: there are none, the key was refused since, or nobody has confirmed them for an hour. Or null. */
  problem(): string | null
}

interface OwnProjectOptions {
  ask: AskProject
  /** Where the last answer is kept. */
  directory: string
  key: string
  /** Unix milliseconds. */
  now: () => number
  log: Log
}

/** With the time that asking may take, a revoked key is found out within a minute. */
const askEveryMs = 50_000
/** While there is no answer. */
const askAgainMs = 5_000

export function createOwnProject({ ask, now, log, ...options }: OwnProjectOptions): OwnProject {
  const remembered = createRememberedProject({ ...options, log })
  let settings: ProjectSettings | undefined
  /** Undefined once the key is refused: only an answer takes that back, and not that the API service is away. */
  let confirmedMs: number | undefined
  let problem: string | null = null
  let timer: NodeJS.Timeout | undefined
  let isStopped = false

  /** Whether the API service said anything of the key. */
  const refresh = async (): Promise<boolean> => {
    try {
      const answer = await ask()
      if (answer === null) throw new CredentialRefused('the key is of no project')
      settings = answer
      confirmedMs = now()
      problem = null
      return true
    } catch (error) {
      if (problem === null)
        log.warn({ err: error }, "the API service does not say what the project's settings are")
      problem = messageOf(error)
      if (!(error instanceof CredentialRefused)) return false
      confirmedMs = undefined
      return true
    }
  }
  const renew = async () => {
    const hasAnswered = await refresh()
    // Before the disk is asked, which may hang.
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
      return isConfirmed ? null : (problem ?? 'nobody has confirmed the settings of the project for an hour')
    },
  }
}

import { hash } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { ageAt } from '#runtime/clock.ts'
import { codeOf, messageOf } from '#runtime/errors.ts'
import type { Log } from '#runtime/log.ts'
import {
  CredentialRefused,
  heldMs,
  projectAnswer,
  type AskProject,
  type ProjectSettings,
} from './ask-project.ts'

/** The project whose key the gateway posts records with. */
export interface OwnProject {
  /** Asks once, so that the first records know whose they are; a service that is away holds the start up for some seconds at most. */
  start(): Promise<void>
  stop(): void
  /** The last answer, of this process or one before it; undefined when there was none. */
  settings(): ProjectSettings | undefined
  /** Why nothing may be published by these settings: there are none, the key is refused, or nobody has confirmed them for an hour. Or null. */
  problem(): string | null
}

interface OwnProjectOptions {
  ask: AskProject
  /** Where the last answer is kept: a gateway that starts while the API service is away must know whether bodies may be kept. */
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
const fileName = 'project.json'

export function createOwnProject({ ask, directory, key, now, log }: OwnProjectOptions): OwnProject {
  const path = join(directory, fileName)
  const keyHash = hash('sha256', key, 'hex')
  let settings: ProjectSettings | undefined
  let problem: string | null = null
  let isRefused = false
  let confirmedMs = now()
  let timer: NodeJS.Timeout | undefined
  let isStopped = false

  const remember = async (known: ProjectSettings) => {
    try {
      await mkdir(directory, { recursive: true, mode: 0o700 })
      const { projectId: project_id, tier, isEphemeral: zero_content_retention } = known
      const text = JSON.stringify({
        key_sha256: keyHash,
        project: { project_id, tier, zero_content_retention },
      })
      const hidden = `${path}.${process.pid}`
      await writeFile(hidden, text, { mode: 0o600 })
      await rename(hidden, path)
    } catch (error) {
      log.warn({ err: error }, "the project's settings cannot be kept for the next start")
    }
  }
  const renew = async () => {
    try {
      const answer = await ask()
      if (answer === null) throw new CredentialRefused('the key is of no project')
      problem = null
      isRefused = false
      confirmedMs = now()
      const isNew = JSON.stringify(answer) !== JSON.stringify(settings)
      settings = answer
      if (isNew) await remember(answer)
    } catch (error) {
      if (problem === null)
        log.warn({ err: error }, "the API service does not say what the project's settings are")
      problem = messageOf(error)
      isRefused = error instanceof CredentialRefused
    }
    if (!isStopped) timer = setTimeout(() => void renew(), problem === null ? askEveryMs : askAgainMs).unref()
  }

  return {
    async start() {
      settings = await readRemembered(path, keyHash, log)
      await renew()
    },
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
    settings: () => settings,
    problem: () =>
      settings === undefined || isRefused || ageAt(now(), confirmedMs) >= heldMs ? problem : null,
  }
}

const rememberedSchema = z.object({ key_sha256: z.string(), project: projectAnswer })

async function readRemembered(path: string, keyHash: string, log: Log): Promise<ProjectSettings | undefined> {
  try {
    const { key_sha256, project } = rememberedSchema.parse(JSON.parse(await readFile(path, 'utf8')))
    return key_sha256 === keyHash ? project : undefined
  } catch (error) {
    // None on the first start; anything else is as good as none, and said.
    if (codeOf(error) !== 'ENOENT')
      log.warn({ err: error }, "the project's settings of the last start cannot be read")
    return undefined
  }
}

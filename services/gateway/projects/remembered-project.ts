import { hash } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { codeOf } from '#runtime/errors.ts'
import type { Log } from '#runtime/log.ts'
import { projectAnswer, type ProjectSettings } from './ask-project.ts'

/** The API service's last answer about a key's project. */
export interface Confirmed {
  settings: ProjectSettings
  /** Undefined when unknown, or when the key was rejected since. */
  confirmedMs: number | undefined
}

/**
 * That answer on disk: a gateway that starts while the API service is down must know whether bodies may be
 * kept.
 */
export interface RememberedProject {
  read(): Promise<Confirmed | undefined>
  /** Never rejects. Skipped while an earlier write hangs; the next answer is written again. */
  write(confirmed: Confirmed): Promise<void>
}

interface RememberedProjectOptions {
  directory: string
  key: string
  log: Log
}

const fileName = 'project.json'

const rememberedSchema = z.object({
  key_sha256: z.string(),
  project: projectAnswer,
  // Earlier versions stored no time.
  confirmed_ms: z.number().optional(),
})

export function createRememberedProject({
  directory,
  key,
  log,
}: RememberedProjectOptions): RememberedProject {
  const path = join(directory, fileName)
  const keyHash = hash('sha256', key, 'hex')
  let written: string | undefined
  let isWriting = false

  return {
    async read() {
      try {
        const remembered = rememberedSchema.parse(JSON.parse(await readFile(path, 'utf8')))
        const { key_sha256, project: settings, confirmed_ms: confirmedMs } = remembered
        return key_sha256 === keyHash ? { settings, confirmedMs } : undefined
      } catch (error) {
        // The file is missing on the first start. Any other error is logged and treated as missing.
        if (codeOf(error) !== 'ENOENT') log.warn({ err: error }, 'the stored project settings cannot be read')
        return undefined
      }
    },
    async write({ settings, confirmedMs: confirmed_ms }) {
      const { projectId: project_id, tier, isEphemeral: zero_content_retention, masks } = settings
      // Without the key of placeholders: the file lies beside the spool.
      const project = { project_id, tier, zero_content_retention, ...(masks === true && { mask: true }) }
      const text = JSON.stringify({ key_sha256: keyHash, project, confirmed_ms })
      if (isWriting || text === written) return
      isWriting = true
      try {
        await mkdir(directory, { recursive: true, mode: 0o700 })
        const hidden = `${path}.${process.pid}`
        // Without the flush, a power failure can leave an empty file: not every file system orders it before
        // the rename.
        await writeFile(hidden, text, { mode: 0o600, flush: true })
        await rename(hidden, path)
        written = text
      } catch (error) {
        log.warn({ err: error }, 'the project settings cannot be stored for the next start')
      }
      isWriting = false
    },
  }
}

import type { Pool } from 'pg'
import type { Clock } from '#runtime/clock.ts'
import { SluiceError } from '#runtime/errors.ts'
import type { Log } from '#runtime/log.ts'
import { inTransaction } from '#runtime/postgres.ts'
import type { Sealer } from '#runtime/sealing.ts'
import type { Tier } from '#schemas/tiers.ts'
import { Problem, type FieldError } from '#http/problem.ts'
import type { PasswordHasher } from '../people/hash-password.ts'
import { countAdministrators, lockPeople } from '../stores/people-store.ts'
import type { CheckWebhook } from '../webhooks/check-webhook.ts'
import type { Declaration } from './declaration.ts'
import { declareKey } from './declare-key.ts'
import { declarePerson } from './declare-person.ts'
import { declareProject } from './declare-project.ts'
import { declareWebhook } from './declare-webhook.ts'
import { initFileInvalid, type InitFile } from './init-file.ts'

interface ApplyOptions {
  /** Connections that see every project. */
  pool: Pool
  checkWebhook: CheckWebhook
  sealer: Sealer
  hasher: PasswordHasher
  defaultTier: Tier
  /** Whether SEARCH_KEY is set, which `mask` needs. */
  canMask: boolean
  log: Log
  clock: Clock
}

const initLock = 7_355_642
const retryMs = 2_000

/**
 * Makes everything as the file says, in one transaction: all of it or nothing. Processes that start at once
 * take turns. Waits for Postgres; throws INIT_FILE_INVALID for what cannot be.
 */
export async function applyInitFile(
  file: InitFile,
  options: ApplyOptions,
  signal: AbortSignal,
): Promise<void> {
  const { log, clock } = options
  await checkWebhooks(file, options.checkWebhook)
  for (let tries = 0; !signal.aborted; tries++) {
    try {
      const counts = await applyOnce(file, options)
      log.info(counts, 'the init file is applied')
      return
    } catch (error) {
      if (!(error instanceof SluiceError) || error.retry === 'never') throw error
      if (tries === 0) log.warn({ err: error }, 'waiting for Postgres to apply the init file')
      await clock.sleep(retryMs, signal)
    }
  }
}

/** Before the transaction, because names are looked up. */
async function checkWebhooks({ projects }: InitFile, check: CheckWebhook): Promise<void> {
  const faults: FieldError[] = []
  for (const [index, { webhooks }] of projects.entries())
    for (const [position, webhook] of webhooks.entries())
      await check(webhook).catch((error: unknown) => {
        if (!(error instanceof Problem)) throw error
        const prefix = `projects.${index}.webhooks.${position}`
        faults.push(
          ...(error.errors ?? []).map(({ path, message }) => ({ path: `${prefix}.${path}`, message })),
        )
      })
  if (faults.length > 0) throw initFileInvalid(faults)
}

interface Counts {
  created: number
  changed: number
}

function applyOnce(file: InitFile, { pool, clock, ...parts }: ApplyOptions): Promise<Counts> {
  const counts: Counts = { created: 0, changed: 0 }
  const faults: FieldError[] = []
  return inTransaction(pool, async (client) => {
    await client.query('select pg_advisory_xact_lock($1)', [initLock])
    const declaration: Declaration = {
      ...parts,
      client,
      actor: { kind: 'init_file' },
      nowMs: clock.now(),
      count: (what) => void counts[what]++,
      fault: (path, message) => void faults.push({ path, message }),
      faults,
    }
    const ids = await declareProjects(declaration, file)
    await declarePeople(declaration, file, ids)
    // Rolls back what was done.
    if (faults.length > 0) throw initFileInvalid(faults)
    return counts
  })
}

/** The ids by ref. */
async function declareProjects(
  declaration: Declaration,
  { projects }: InitFile,
): Promise<ReadonlyMap<string, string>> {
  const ids = new Map<string, string>()
  for (const [index, project] of projects.entries()) {
    const path = `projects.${index}`
    const id = await declareProject(declaration, project, path)
    if (id === undefined) continue
    ids.set(project.ref, id)
    for (const [position, key] of project.keys.entries())
      await declareKey(declaration, id, key, `${path}.keys.${position}`)
    for (const [position, webhook] of project.webhooks.entries())
      await declareWebhook(declaration, id, webhook, `${path}.webhooks.${position}`)
  }
  return ids
}

async function declarePeople(
  declaration: Declaration,
  { people }: InitFile,
  ids: ReadonlyMap<string, string>,
): Promise<void> {
  if (people.length === 0) return
  const { client } = declaration
  await lockPeople(client)
  const before = await countAdministrators(client)
  for (const [index, person] of people.entries()) {
    const projectIds = person.projects?.flatMap((ref) => ids.get(ref) ?? [])
    await declarePerson(declaration, person, projectIds, `people.${index}`)
  }
  if (before > 0 && (await countAdministrators(client)) === 0)
    declaration.fault('people', 'would leave no administrator who can sign in')
}

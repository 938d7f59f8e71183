import { setTimeout as sleep } from 'node:timers/promises'
import { DatabaseError, Pool } from 'pg'
import { z } from 'zod'
import { bodyKeyStatus, noteBodyKeys, whyNeeded } from '#infra/body-key-status.ts'
import { CannotStart } from '#infra/embedded/embedded-part.ts'
import { rotateBodies, type Rotated } from '#infra/rotate-bodies.ts'
import { parseConfig, postgresFields, sealingFields } from '#runtime/config.ts'
import type { EncryptionKey } from '#runtime/encryption-keys.ts'
import { requireOwnSessions } from '#runtime/own-sessions.ts'
import { connectionOf } from '#runtime/postgres-address.ts'
import { createResealer } from '#runtime/sealing.ts'
import { findStore } from './stack/find-store.ts'
import { readOptions } from './stack/read-options.ts'
import { runCommand } from './stack/run-command.ts'

const usage = `scripts/keys status [--state DIR]
scripts/keys rotate-bodies [--pause-ms N] [--state DIR]

  To rotate: add the new key at the end and restart all processes with the list (API, ingest, scorer,
  notifier, redteam, gateways that publish to Kafka), so that all can open what it seals. Then move it to the
  front and restart them again. Then run rotate-bodies. Remove an old key when status says so. With a single
  restart, calls would be sealed that a scorer cannot open yet (docs/secrets.md).

  status           which keys are needed, by what, and until when
  rotate-bodies    seals everything in Postgres again with the first key; can be stopped and continued
  --pause-ms N     pause between batches (50); longer means less load
  --state DIR      the running stack (.sluice); DATABASE_URL and BODY_ENCRYPTION_KEYS take its place
`

const schema = z.object({ ...sealingFields, ...postgresFields })
const defaultPauseMs = 50
const noSuchTable = '42P01'

function readArguments() {
  const { values, positionals } = readOptions(usage, { texts: ['pause-ms'] })
  const pauseMs = Number(values['pause-ms'] ?? defaultPauseMs)
  const [command] = positionals
  const { state } = values
  if (values.help === true) return { command: 'help', pauseMs, state }
  if (positionals.length !== 1 || !(pauseMs >= 0)) throw new CannotStart(usage)
  return { command, pauseMs, state }
}

async function showStatus(pool: Pool, keyIds: readonly string[]): Promise<void> {
  const now = new Date()
  for (const status of await bodyKeyStatus(pool, keyIds)) {
    const { keyId, configured, values } = status
    if (keyId === null) {
      console.log(`not encrypted: ${values} values`)
      continue
    }
    const why = whyNeeded(status, now)
    const verdict = why === undefined ? 'not needed any more' : `needed: ${why}`
    console.log(`${keyId}  ${configured ? '' : 'NOT CONFIGURED, '}${verdict}`)
    if (why !== undefined && !configured) process.exitCode = 1
  }
}

async function rotate(pool: Pool, keys: readonly EncryptionKey[], pauseMs: number): Promise<void> {
  const resealer = createResealer(keys)
  if (resealer === undefined)
    throw new CannotStart('BODY_ENCRYPTION_KEYS is empty: there is no key to seal with')
  const describe = ({ resealed, unopened }: Rotated) => `${resealed} sealed again, ${unopened} not opened`
  let told = 0
  const rotated = await rotateBodies({
    pool,
    resealer,
    async onBatch(table, soFar) {
      console.log(`${table}: ${describe(soFar)}`)
      await sleep(pauseMs)
    },
    onUnopened(table, reason) {
      if (told++ < 10) console.error(`${table}: ${reason}`)
    },
  })
  console.log(`done: ${describe(rotated)}`)
  if (rotated.unopened > 0) process.exitCode = 1
}

async function run(): Promise<void> {
  const { command, pauseMs, state } = readArguments()
  if (command === 'help') {
    console.log(usage)
    return
  }
  if (command !== 'status' && command !== 'rotate-bodies') throw new CannotStart(usage)
  const parsed = parseConfig(schema, await findStore(state, process.env))
  if (!parsed.ok) throw new CannotStart(`the configuration is wrong\n${parsed.problems.join('\n')}`)
  const { BODY_ENCRYPTION_KEYS: keys } = parsed.value
  await requireOwnSessions(parsed.value)
  const pool = new Pool({ ...connectionOf(parsed.value), max: 2, application_name: 'sluice-keys' })
  try {
    const keyIds = keys.map(({ id }) => id)
    // Also for the status: an unrecorded key would look unused in topics.
    await noteBodyKeys(pool, keyIds, new Date())
    await (command === 'status' ? showStatus(pool, keyIds) : rotate(pool, keys, pauseMs))
  } catch (error) {
    if (!(error instanceof DatabaseError) || error.code !== noSuchTable) throw error
    throw new CannotStart(`the database is not migrated (${error.message}): scripts/migrate does it`)
  } finally {
    await pool.end()
  }
}

await runCommand(run)

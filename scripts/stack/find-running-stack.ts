import { setTimeout as delay } from 'node:timers/promises'
import { CannotStart, type Say } from '#infra/embedded/embedded-part.ts'
import type { Connection } from './connection.ts'
import { addressesOf } from './print-summary.ts'
import { isAlive, readRecord, type StackRecord } from './stack-record.ts'
import { readWritten, statePaths } from './state-directory.ts'

const POLL_MS = 500

/**
 * Message about a stack that already runs on this directory; undefined if none does, also if a killed
 * supervisor left its record. Waits for a stack that another command is starting. Throws {@link CannotStart}
 * if that one fails or is stopping.
 */
export async function findRunningStack(stateDirectory: string, say: Say): Promise<string | undefined> {
  const paths = statePaths(stateDirectory)
  const running = await liveRecord(paths.record)
  if (running === undefined) return undefined
  const by = `process ${running.supervisor.pid}`
  if (running.phase === 'starting')
    say(`Sluice on ${stateDirectory} is being started by ${by}; waiting for it`)
  let now: StackRecord | undefined = running
  while (now?.phase === 'starting') {
    await delay(POLL_MS)
    now = await liveRecord(paths.record)
  }
  if (now?.phase !== 'ready') {
    const what = now === undefined ? `was not started: ${by} ended` : `is being stopped by ${by}`
    throw new CannotStart(`Sluice on ${stateDirectory} ${what}; run this again.`)
  }
  const connection = await readWritten<Connection>(paths.connection, 'another directory with --state DIR')
  return `Sluice already runs on ${stateDirectory} (${by}).

${addressesOf(connection, stateDirectory)}

Each process: scripts/up --status. To end it: scripts/up --stop. Another beside it: --state DIR and --port-offset N.`
}

async function liveRecord(file: string): Promise<StackRecord | undefined> {
  const record = await readRecord(file)
  return record !== undefined && isAlive(record.supervisor) ? record : undefined
}

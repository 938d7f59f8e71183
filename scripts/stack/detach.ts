import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { CannotStart, type Say } from '#infra/embedded/embedded-part.ts'
import type { UpArguments } from './parse-arguments.ts'
import { openState, rotateLog } from './state-directory.ts'

/** What the supervisor reports to the command that waits for it. */
export type SupervisorMessage = { say: string } | { ready: string } | { failed: string }

/**
 * Starts the supervisor in its own session. Resolves with its summary when everything is up. If this process
 * ends first, the supervisor gives up too.
 */
export async function detach(
  script: string,
  { stateDirectory, portOffset }: UpArguments,
  say: Say,
): Promise<string> {
  const paths = await openState(stateDirectory)
  const logFile = paths.log('supervisor')
  await rotateLog(logFile)
  const log = openSync(logFile, 'a')
  const args = [script, '--supervise', '--state', stateDirectory, '--port-offset', String(portOffset)]
  const child = spawn(process.execPath, args, { detached: true, stdio: ['ignore', log, log, 'ipc'] })
  closeSync(log)
  const summary = await new Promise<string>((resolve, reject) => {
    child.on('message', (message: SupervisorMessage) => {
      if ('say' in message) say(message.say)
      else if ('ready' in message) resolve(message.ready)
      else reject(new CannotStart(message.failed))
    })
    child.once('error', reject)
    child.once('exit', () => {
      reject(new CannotStart(`The supervisor ended unexpectedly: see ${logFile}.`))
    })
  })
  child.disconnect()
  child.unref()
  return summary
}

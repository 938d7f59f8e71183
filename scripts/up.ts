import { join } from 'node:path'
import { CannotStart, type Say } from '#infra/embedded/embedded-part.ts'
import { codeOf, messageOf } from '#runtime/errors.ts'
import { detach, type SupervisorMessage } from './stack/detach.ts'
import { findRunningStack } from './stack/find-running-stack.ts'
import { parseArguments, USAGE, type UpArguments } from './stack/parse-arguments.ts'
import { summaryOf } from './stack/print-summary.ts'
import { describeStatus } from './stack/show-status.ts'
import { startStack } from './stack/start-stack.ts'
import { stopStack } from './stack/stop-stack.ts'
import { writeLine } from './stack/write-line.ts'

const DEFAULT_CACHE = join(import.meta.dirname, '..', '.cache')

/** Returns the exit code. */
async function run(): Promise<number> {
  const given = parseArguments(process.argv.slice(2), process.cwd())
  switch (given.command) {
    case 'help':
      console.log(USAGE)
      return 0
    case 'status': {
      const { text, allUp } = await describeStatus(given.stateDirectory)
      console.log(text)
      return allUp ? 0 : 1
    }
    case 'stop':
      console.log(await stopStack(given.stateDirectory))
      return 0
    case 'detach':
    case 'run': {
      const running = await findRunningStack(given.stateDirectory, console.log)
      if (running === undefined) return await start(given)
      console.log(running)
      return 0
    }
    case 'supervise':
      return await supervise(given)
  }
}

async function start(given: UpArguments): Promise<number> {
  if (given.command === 'detach') {
    console.log(await detach(import.meta.filename, given, console.log))
    return 0
  }
  return await runStack(given, writeLine, (summary) => {
    writeLine(`${summary}\nCtrl-C stops everything.`)
  })
}

/**
 * The process that --detach leaves: reports to its waiting parent until all is ready, and always to its log.
 */
async function supervise(given: UpArguments): Promise<number> {
  const tell = (message: SupervisorMessage) => {
    if (process.connected) process.send?.(message)
  }
  const say: Say = (line) => {
    writeLine(`${new Date().toISOString()} ${line}`)
    tell({ say: line })
  }
  try {
    const code = await runStack(given, say, (summary) => {
      tell({ ready: summary })
      writeLine(`${new Date().toISOString()} everything is up`)
    })
    tell({ failed: 'Stopped before everything was up.' })
    return code
  } catch (error) {
    tell({ failed: explain(error) })
    throw error
  }
}

async function runStack(given: UpArguments, say: Say, ready: (summary: string) => void): Promise<number> {
  const { stateDirectory, portOffset } = given
  const { signal, stopped, becameReady } = listenForEnd(say)
  const cacheDirectory = process.env['SLUICE_CACHE_DIR'] ?? DEFAULT_CACHE
  const stack = await startStack({
    stateDirectory,
    portOffset,
    environment: process.env,
    cacheDirectory,
    say,
    signal,
  }).catch((error: unknown) => {
    if (signal.aborted) return undefined
    throw error
  })
  if (!stack) return 1
  becameReady()
  ready(summaryOf(stack, stateDirectory))
  await stopped
  await stack.stop()
  return 0
}

const GIVE_UP_AFTER_MS = 15_000

/**
 * The first signal stops everything in order. After a second one, or if the start does not finish, the guards
 * end the processes.
 */
function listenForEnd(say: Say) {
  const controller = new AbortController()
  const stopped = new Promise<void>((resolve) => {
    controller.signal.addEventListener('abort', () => resolve())
  })
  let isReady = false
  const end = (reason: string) => {
    if (controller.signal.aborted) process.exit(1)
    say(`stopping (${reason})`)
    controller.abort(new Error(reason))
    if (!isReady) setTimeout(() => process.exit(1), GIVE_UP_AFTER_MS).unref()
  }
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => end(name))
  process.on('disconnect', () => {
    if (!isReady) end('the process that started this is gone')
  })
  return { signal: controller.signal, stopped, becameReady: () => (isReady = true) }
}

function explain(error: unknown): string {
  if (error instanceof CannotStart) return error.message
  const code = codeOf(error)
  if (code === 'ENOSPC') return 'The disk is full: free some space and start again.'
  return code === '' && Error.isError(error) ? String(error.stack) : messageOf(error)
}

try {
  process.exitCode = await run()
} catch (error) {
  console.error(`sluice: ${explain(error)}`)
  // As for all scripts (run-command.ts); 1 also means that --status found a stack not completely up.
  process.exitCode = error instanceof CannotStart ? 2 : 1
}
// Open handles, such as a channel to a waiting process, must not keep this one alive.
process.exit()

import { setTimeout as delay } from 'node:timers/promises'
import { lastLines } from '#infra/embedded/await-ready.ts'
import type { EmbeddedPart, Exit, Say } from '#infra/embedded/embedded-part.ts'
import type { ProcessState, ProcessStatus } from './stack-record.ts'

/** A started process. `ready` resolves when it answers, and rejects if it never will. */
export type StartedProcess = Pick<EmbeddedPart, 'pid' | 'exited' | 'stop'> & { ready: Promise<void> }

export interface ProcessToSupervise {
  name: string
  logFile: string
  /** Rejects with the signal's reason when aborted. */
  start: (signal: AbortSignal) => Promise<StartedProcess>
  say: Say
  /** Called after every change of `status`. */
  changed: () => void
  backoff?: Backoff
}

export interface Backoff {
  firstMs: number
  longestMs: number
  /** A process that ran this long was healthy: its next restart waits `firstMs` again. */
  wellAfterMs: number
}

export interface SupervisedProcess {
  status: () => Pick<ProcessStatus, 'pid' | 'state' | 'restarts' | 'endedAt'>
  /** Stops it for good, also while it waits for a restart. */
  stop: () => Promise<void>
}

/** More than exit within half an hour. */
const maxEnds = 100

const BACKOFF: Backoff = { firstMs: 1000, longestMs: 30_000, wellAfterMs: 60_000 }

/**
 * Starts a process, waits until it is ready (throws if it fails) and then restarts it whenever it exits,
 * after a delay that doubles with each failure.
 */
export async function superviseProcess(plan: ProcessToSupervise): Promise<SupervisedProcess> {
  const stop = new AbortController()
  const first = await plan.start(stop.signal)
  try {
    await first.ready
  } catch (error) {
    await first.stop()
    throw error
  }
  const life: Life = {
    plan,
    running: first,
    state: 'up',
    restarts: 0,
    endedAt: [],
    stop,
  }
  plan.changed()
  const watched = watch(life)
  return {
    status: () => {
      const { running, state, restarts, endedAt } = life
      return { pid: running?.pid ?? null, state, restarts, endedAt }
    },
    stop: async () => {
      life.stop.abort()
      await life.running?.stop()
      await watched
      life.state = 'stopped'
      plan.changed()
    },
  }
}

interface Life {
  plan: ProcessToSupervise
  running: StartedProcess | undefined
  state: ProcessState
  restarts: number
  endedAt: string[]
  stop: AbortController
}

async function watch(life: Life): Promise<void> {
  const { plan, stop } = life
  const backoff = plan.backoff ?? BACKOFF
  let failures = 0
  while (life.running) {
    const since = performance.now()
    const exit = await life.running.exited
    life.running = undefined
    if (stop.signal.aborted) return
    if (performance.now() - since >= backoff.wellAfterMs) failures = 0
    life.state = 'restarting'
    life.endedAt = [...life.endedAt, new Date().toISOString()].slice(-maxEnds)
    plan.changed()
    await announce(plan, exit, delayOf(failures, backoff))
    failures = await startAgain(life, failures, backoff)
  }
}

/** Tries until the process is started or the supervision ends; returns the count of failures so far. */
async function startAgain(life: Life, failuresBefore: number, backoff: Backoff): Promise<number> {
  const { plan, stop } = life
  let failures = failuresBefore
  for (;;) {
    const waited = await delay(delayOf(failures++, backoff), 'waited', { signal: stop.signal }).catch(
      () => 'stopped',
    )
    if (waited === 'stopped') return failures
    try {
      const started = await plan.start(stop.signal)
      if (stop.signal.aborted) {
        await started.stop()
        return failures
      }
      noteReadiness(life, started)
      return failures
    } catch (error) {
      if (stop.signal.aborted) return failures
      const seconds = delayOf(failures, backoff) / 1000
      plan.say(`${plan.name} could not be restarted (${describe(error)}); trying again in ${seconds} s`)
    }
  }
}

function noteReadiness(life: Life, started: StartedProcess): void {
  const { plan } = life
  life.running = started
  life.restarts += 1
  life.state = 'starting'
  plan.changed()
  void started.ready.then(
    () => {
      if (life.running !== started) return
      life.state = 'up'
      plan.say(`${plan.name} is up again (process ${started.pid})`)
      plan.changed()
    },
    (error: unknown) => {
      if (life.running === started) plan.say(`${plan.name} runs but is not ready: ${describe(error)}`)
    },
  )
}

async function announce(
  { name, logFile, say }: ProcessToSupervise,
  exit: Exit,
  delayMs: number,
): Promise<void> {
  const how = exit.signal === null ? `exit code ${exit.code ?? 'unknown'}` : exit.signal
  // An unreadable log is no reason not to restart a process.
  const end = await lastLines(logFile).catch((error: unknown) => [describe(error)])
  const lines = end.map((line) => `  ${line}`)
  say([`${name} ended (${how}), restart in ${delayMs / 1000} s; the end of ${logFile}:`, ...lines].join('\n'))
}

function delayOf(failures: number, { firstMs, longestMs }: Backoff): number {
  return Math.min(longestMs, firstMs * 2 ** failures)
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

import { open } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { codeOf, messageOf } from '#runtime/errors.ts'
import { CannotStart, type Exit } from './embedded-part.ts'
import type { GuardedProcess } from './guarded-process.ts'
import { measureWork } from './measure-work.ts'
import { createPatience } from './patience.ts'

const POLL_MS = 100
const PATIENT_AFTER_MS = 10_000
const PATIENT_POLL_MS = 1000
/** Reading all processes takes some milliseconds. */
const MEASURE_EVERY_MS = 1000

/** How long a starting part may do nothing. A hanging disk recovers sooner. */
export const FIRST_PATIENCE_MS = 300_000

export interface Readiness {
  name: string
  /** Makes the part do its real work once; throws while it cannot. */
  probe: () => Promise<unknown>
  process: Pick<GuardedProcess, 'pid' | 'exited'>
  logFile: string
  /** How long it may do nothing. While it works there is no limit (patience.ts). */
  patienceMs: number
  /** Whether lines in its log count as work. False if it also logs while it waits for others. */
  logCounts?: boolean
  /** Aborted: the caller no longer waits. */
  signal?: AbortSignal | undefined
}

/**
 * Waits until the probe succeeds. Throws {@link CannotStart} with the end of the log if the process exits or
 * does nothing for too long; the signal's reason if aborted.
 */
export async function awaitReady(readiness: Readiness): Promise<void> {
  const { name, probe, process, logFile, patienceMs, logCounts = true, signal } = readiness
  let exit: Exit | undefined
  void process.exited.then((value) => (exit = value))
  const patience = createPatience(patienceMs, logCounts)
  const started = performance.now()
  let measuredAt = -Infinity
  for (;;) {
    signal?.throwIfAborted()
    if (exit) throw new CannotStart(await describeFailure(`${name} ended while starting`, logFile))
    try {
      await probe()
      return
    } catch (error) {
      if (performance.now() - measuredAt >= MEASURE_EVERY_MS) {
        measuredAt = performance.now()
        const work = await measureWork(process.pid, logFile)
        if (patience.isOver(work, performance.now())) throw await didNothing(readiness, error)
      }
    }
    await delay(performance.now() - started < PATIENT_AFTER_MS ? POLL_MS : PATIENT_POLL_MS)
  }
}

async function didNothing({ name, patienceMs, logFile }: Readiness, failure: unknown): Promise<CannotStart> {
  const what = `${name} is not ready (${messageOf(failure)}) and did nothing for ${patienceMs / 1000} s`
  return new CannotStart(await describeFailure(what, logFile))
}

/** A log of several days exceeds the maximum length of a string. */
const tailBytes = 64 * 1024

/** The last lines of a log, for a message. Empty if there is no log. */
export async function lastLines(logFile: string, count = 8): Promise<string[]> {
  const file = await open(logFile).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  })
  if (file === undefined) return []
  try {
    const { size } = await file.stat()
    const buffer = Buffer.alloc(Math.min(size, tailBytes))
    const { bytesRead } = await file.read({ buffer, position: size - buffer.length })
    return buffer.toString('utf8', 0, bytesRead).trimEnd().split('\n').slice(-count)
  } finally {
    await file.close()
  }
}

async function describeFailure(what: string, logFile: string): Promise<string> {
  const lines = await lastLines(logFile)
  const cause = lines.some((line) => /No space left on device/i.test(line))
    ? 'the disk is full: free some space and start again'
    : `the end of ${logFile} says`
  return `${what}; ${cause}:\n${lines.map((line) => `  ${line}`).join('\n')}`
}

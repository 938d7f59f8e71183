import { open } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { codeOf } from '#runtime/errors.ts'
import { CannotStart, type Exit } from './embedded-part.ts'

const POLL_MS = 100
const PATIENT_AFTER_MS = 10_000
const PATIENT_POLL_MS = 1000

export interface Readiness {
  name: string
  /** Asks the part to do its real work once; throws while it cannot. */
  probe: () => Promise<unknown>
  exited: Promise<Exit>
  logFile: string
  deadlineMs: number
}

/** Waits until the probe succeeds. Throws {@link CannotStart}, with the end of the log, when the process ends or the deadline passes first. */
export async function awaitReady({ name, probe, exited, logFile, deadlineMs }: Readiness): Promise<void> {
  let exit: Exit | undefined
  void exited.then((value) => (exit = value))
  const started = performance.now()
  let failure: unknown
  while (performance.now() - started < deadlineMs) {
    if (exit) throw new CannotStart(await describeFailure(`${name} ended while starting`, logFile))
    try {
      await probe()
      return
    } catch (error) {
      failure = error
      await delay(performance.now() - started < PATIENT_AFTER_MS ? POLL_MS : PATIENT_POLL_MS)
    }
  }
  const last = failure instanceof Error ? failure.message : String(failure)
  throw new CannotStart(
    await describeFailure(`${name} was not ready after ${deadlineMs / 1000} s (${last})`, logFile),
  )
}

/** A log that was written for days has more than a string can hold. */
const tailBytes = 64 * 1024

/** The last lines of a log, for a message to a person. Empty when there is no log. */
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

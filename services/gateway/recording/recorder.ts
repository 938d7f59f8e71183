import type { Log } from '#runtime/log.ts'
import { createThrottledLog } from '#runtime/throttled-log.ts'
import type { GatewayMetrics } from '../metrics.ts'
import { PartlyWritten } from '../spool/record-writer.ts'
import type { Spool } from '../spool/spool.ts'
import { createSharedTimeout } from './shared-timeout.ts'
import { buildRecord, type FinishedCall } from './build-record.ts'
import { keptOf } from './keep-by-key.ts'
import type { LeftOut } from './left-out.ts'

/**
 * Writes a finished call to the spool. Resolves when it is on disk, or after the timeout; never rejects.
 * Calls `release` once the bytes of the bodies are no longer needed, which may be later.
 */
export type Recorder = (call: FinishedCall, release: () => void) => Promise<void>

export interface RecorderDependencies {
  spool: Spool
  /** Maximum bytes of one body in a record. */
  maxBodyBytes: number
  /** What may be written to disk of a record. Absent: all. */
  keep?: ((record: Buffer, caller: FinishedCall['caller']) => Buffer) | undefined
  /** How long an answer waits until its record is built (which includes decompression) and on disk. */
  waitMs: number
  leftOut: LeftOut
  metrics: GatewayMetrics
  log: Log
}

/** Maximum log lines per second and kind. Each names a call, so all are found while they are few. */
const maxNamedPerSecond = 10

/** The record could not be built, because of `cause`. */
class NoRecord extends Error {}

/** The key of the call has nothing recorded. */
class NotKept extends Error {}

/** The result of a write within the timeout. */
type Outcome = 'written' | 'late' | { error: unknown }

export function createRecorder(dependencies: RecorderDependencies): Recorder {
  const { spool, maxBodyBytes, waitMs, metrics, log } = dependencies
  const keep = createKeep(dependencies)
  const outcomeOf = createOutcomes(waitMs)
  const throttledLog = createThrottledLog(maxNamedPerSecond)

  const fail = (error: unknown, id: string) => {
    metrics.lost('defect', 1)
    log.error({ err: error, request_id: id }, 'no record could be made of a call')
  }
  const reportUnread = createUnreadReporter(dependencies, throttledLog)
  const settleRefused = createRefusalHandler(dependencies, throttledLog, fail)
  const settle = async (written: Promise<void>, id: string, record: () => Buffer | undefined) => {
    const outcome = await outcomeOf(written)
    if (outcome === 'written') metrics.recorded()
    else if (outcome === 'late') {
      metrics.slowDisk()
      throttledLog('late', (unsaid) =>
        log.error(
          { request_id: id, wait_ms: waitMs, unsaid },
          'the spool is slow: an answer ended before its record was on disk',
        ),
      )
      // The write may still succeed.
      written.then(
        () => metrics.recorded(),
        (error: unknown) => settleRefused(error, id, record()),
      )
    } else settleRefused(outcome.error, id, record())
  }
  return (call, release) => {
    const { id } = call
    const { isEphemeral } = call.caller
    try {
      const built = buildRecord(call, maxBodyBytes, (error) => reportUnread(error, id))
      // No extra turn of the event loop where nothing is awaited.
      if (!(built instanceof Promise)) {
        const kept = keep(call, built)
        if (kept !== null) return settle(spool.append(kept, isEphemeral), id, () => kept).then(release)
        release()
        return Promise.resolve()
      }
      let made: Buffer | undefined
      const written = built.then((record) => {
        const kept = keep(call, record)
        if (kept === null) throw new NotKept()
        made = kept
        return spool.append(kept, isEphemeral)
      }, unbuilt(call))
      void built.then(release, release)
      return settle(written, id, () => made)
    } catch (error) {
      call.check?.ended(statusOf(call))
      fail(error instanceof NoRecord ? error.cause : error, id)
      release()
      return Promise.resolve()
    }
  }
}

/** What is stored of a record, by the call's key, which also pays for the call; null: nothing. */
function createKeep({ leftOut, keep = (record) => record }: RecorderDependencies) {
  return (call: FinishedCall, record: Buffer): Buffer | null => {
    call.check?.ended(statusOf(call), record)
    try {
      const kept = keptOf(call, record)
      if (kept !== null) return keep(kept, call.caller)
      leftOut.count(call.caller.projectId, 'key_capture_none')
      return null
    } catch (error) {
      throw new NoRecord('no record could be made', { cause: error })
    }
  }
}

function unbuilt(call: FinishedCall): (error: unknown) => never {
  return (error) => {
    call.check?.ended(statusOf(call))
    throw new NoRecord('no record could be made', { cause: error })
  }
}

/** The provider's. */
function statusOf({ answer, status }: FinishedCall): number | null {
  return answer === null ? null : status
}

/** Counts or logs a record whose write failed. Without `record`, none was built. */
function createRefusalHandler(
  { metrics, log }: RecorderDependencies,
  throttledLog: ReturnType<typeof createThrottledLog>,
  fail: (error: unknown, id: string) => void,
) {
  return (error: unknown, id: string, record: Buffer | undefined) => {
    if (error instanceof NotKept) return
    const refused = error instanceof PartlyWritten && record !== undefined ? error.refused : undefined
    if (error instanceof NoRecord) fail(error.cause, id)
    else if (refused !== undefined && record !== undefined && !refused.has(record)) metrics.recorded()
    // The spool has counted the loss; the answer is not delayed.
    else
      throttledLog('refused', (unsaid) =>
        log.error(
          { err: (record && refused?.get(record)) ?? error, request_id: id, unsaid },
          'the spool did not take a record',
        ),
      )
  }
}

/** Counts and logs a stream that is recorded unparsed. */
function createUnreadReporter(
  { metrics, log }: RecorderDependencies,
  throttledLog: ReturnType<typeof createThrottledLog>,
) {
  return (error: unknown, id: string) => {
    metrics.unread()
    throttledLog('unread', (unsaid) =>
      log.error({ err: error, request_id: id, unsaid }, 'a stream is recorded as it came: reading it failed'),
    )
  }
}

/** Waits for writes. Records that share a write share the wait. */
function createOutcomes(waitMs: number): (written: Promise<void>) => Promise<Outcome> {
  const timeout = createSharedTimeout(waitMs)
  let last: { written: Promise<void>; outcome: Promise<Outcome> } | undefined

  const outcomeOf = async (written: Promise<void>): Promise<Outcome> => {
    let failure: Outcome | undefined
    const settled = written.catch((error: unknown) => {
      failure = { error }
    })
    return (await timeout.race(settled)) === 'late' ? 'late' : (failure ?? 'written')
  }
  return (written) => {
    if (last?.written !== written) last = { written, outcome: outcomeOf(written) }
    return last.outcome
  }
}

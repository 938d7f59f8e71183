import type { Log } from '#runtime/log.ts'
import type { GatewayMetrics } from '../metrics.ts'
import type { Spool } from '../spool/spool.ts'
import { createPatience } from './patience.ts'
import { buildRecord, type FinishedCall } from './build-record.ts'

/** Puts a finished call into the spool. Resolves once the disk has it, or will not have it in time; never rejects. */
export type Recorder = (call: FinishedCall) => Promise<void>

export interface RecorderDependencies {
  spool: Spool
  upstreamHost: string
  /** Bytes of one body in a record. */
  maxBodyBytes: number
  /** How long an answer waits for the disk. */
  waitMs: number
  metrics: GatewayMetrics
  log: Log
}

/** What became of a write in time; an error when the disk refused it. */
type Outcome = 'written' | 'late' | { error: unknown }

export function createRecorder(dependencies: RecorderDependencies): Recorder {
  const { spool, upstreamHost, maxBodyBytes, waitMs, metrics, log } = dependencies
  const outcomeOf = createOutcomes(waitMs)

  const put = async (record: Buffer, { id, caller }: FinishedCall): Promise<void> => {
    const written = spool.append(record, caller.isEphemeral)
    const outcome = await outcomeOf(written)
    if (outcome === 'written') metrics.recorded()
    else if (outcome === 'late') {
      metrics.slowDisk()
      log.error(
        { request_id: id, wait_ms: waitMs },
        'the spool is slow: an answer ends before its record is on disk',
      )
      // It may still get there; the spool counts it when it does not.
      written.then(
        () => metrics.recorded(),
        () => undefined,
      )
    }
    // The spool has counted it. The application's answer is not held back for it.
    else log.error({ err: outcome.error, request_id: id }, 'the spool did not take a record')
  }

  const fail = (error: unknown, { id }: FinishedCall) => {
    metrics.lost('defect', 1)
    log.error({ err: error, request_id: id }, 'no record could be made of a call')
  }
  return (call) => {
    try {
      const built = buildRecord(call, upstreamHost, maxBodyBytes)
      // Only what has to be waited for: a turn of the event loop for each would add up.
      if (!(built instanceof Promise)) return put(built, call)
      return built.then(
        (record) => put(record, call),
        (error: unknown) => fail(error, call),
      )
    } catch (error) {
      fail(error, call)
      return Promise.resolve()
    }
  }
}

/** Waits for writes. Records that share a write share the wait for it. */
function createOutcomes(waitMs: number): (written: Promise<void>) => Promise<Outcome> {
  const patience = createPatience(waitMs)
  let last: { written: Promise<void>; outcome: Promise<Outcome> } | undefined

  const outcomeOf = async (written: Promise<void>): Promise<Outcome> => {
    let failure: Outcome | undefined
    const settled = written.catch((error: unknown) => {
      failure = { error }
    })
    return (await patience.race(settled)) === 'late' ? 'late' : (failure ?? 'written')
  }
  return (written) => {
    if (last?.written !== written) last = { written, outcome: outcomeOf(written) }
    return last.outcome
  }
}

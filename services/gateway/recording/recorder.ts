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

export function createRecorder(dependencies: RecorderDependencies): Recorder {
  const { spool, upstreamHost, maxBodyBytes, waitMs, metrics, log } = dependencies
  const patience = createPatience(waitMs)

  const write = async (call: FinishedCall): Promise<void> => {
    let record: Buffer
    try {
      record = await buildRecord(call, upstreamHost, maxBodyBytes)
    } catch (error) {
      metrics.lost('defect', 1)
      log.error({ err: error, request_id: call.id }, 'no record could be made of a call')
      return
    }
    try {
      await spool.append(record, call.caller.isEphemeral)
      metrics.recorded()
    } catch (error) {
      // The spool has counted it. The application's answer is not held back for it.
      log.error({ err: error, request_id: call.id }, 'the spool did not take a record')
    }
  }

  return async (call) => {
    if ((await patience.race(write(call))) === 'done') return
    metrics.slowDisk()
    log.error(
      { request_id: call.id, wait_ms: waitMs },
      'the spool is slow: an answer ends before its record is on disk',
    )
  }
}

import type { KeyObject } from 'node:crypto'
import type { Log } from '#runtime/log.ts'
import type { StripBodies } from './erase-bodies.ts'

/** Why a recorded call was lost. `defect`: its record could not be built. */
export const lossReasons = [
  'spool_full',
  'parked_full',
  'parked_expired',
  'spool_write',
  'damaged',
  'unreadable',
  'defect',
] as const
export type LossReason = (typeof lossReasons)[number]

export interface SpoolOptions {
  directory: string
  /** Name of this process's folder. */
  name: string
  key: KeyObject | undefined
  maxBytes: number
  /** Called with the effective limit, which is below `maxBytes` on a smaller disk. */
  onLimit?: (bytes: number) => void
  /** Limit of `set-aside/`, which all gateways of a directory share; the oldest segments are dropped. */
  maxAsideBytes: number
  /** Limit of records waiting for the disk; those beyond are lost and counted. */
  maxWaitingBytes: number
  /** Strips records of zero-retention projects after an hour. */
  stripBodies: StripBodies
  now: () => number
  /** Interval of lock and maintenance; 10 s except in tests. */
  tickMs?: number
  log: Log
  /** Called for every lost record. */
  onLost: (reason: LossReason, records: number) => void
}

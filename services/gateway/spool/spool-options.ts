import type { KeyObject } from 'node:crypto'
import type { Log } from '#runtime/log.ts'
import type { StripBodies } from './erase-bodies.ts'

/** Why a recorded call is lost; `defect`: no record could be made of it. */
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
  /** The name of this process's folder. */
  name: string
  key: KeyObject | undefined
  maxBytes: number
  /** Told how many bytes it may have: fewer than `maxBytes` on a smaller disk. */
  onLimit?: (bytes: number) => void
  /** Of `set-aside/`, which the gateways of a directory share; the oldest there make room. */
  maxAsideBytes: number
  /** Bytes of records that wait for the disk to take them; what comes beyond is lost and counted. */
  maxWaitingBytes: number
  /** What is left of a record of a project that keeps no content, after an hour. */
  stripBodies: StripBodies
  now: () => number
  /** How often the lock is touched and the spool looked after; 10 s unless a test says otherwise. */
  tickMs?: number
  log: Log
  /** Told of every record that is lost. */
  onLost: (reason: LossReason, records: number) => void
}

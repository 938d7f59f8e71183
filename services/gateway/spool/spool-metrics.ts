import { whenAsked, type Metrics } from '#runtime/metrics.ts'
import { createFreeSpaceProbe } from './disk-space.ts'
import type { SpoolDepth } from './waiting-segments.ts'

/** Metrics of what the spool holds, and may hold. */
export interface SpoolMetrics {
  spool(depth: SpoolDepth, nowMs: number): void
  /** Bytes available to this process, by SPOOL_MAX_BYTES and the file system. */
  spoolLimit(bytes: number): void
  /** Measures free space in `directory` on each scrape; `bytes` is the value until the first measurement. */
  spoolLies(directory: string, bytes: number): void
}
export function createSpoolMetrics(metrics: Metrics): SpoolMetrics {
  const limit = metrics.gauge(
    'sluice_gateway_spool_limit_bytes',
    'Bytes at which the spool begins to drop its oldest records: SPOOL_MAX_BYTES, or less on a smaller disk.',
  )
  const free = metrics.gauge(
    'sluice_gateway_spool_free_bytes',
    'Free bytes on the file system of the spool, as last measured.',
    [],
    'max',
  )
  const waiting = metrics.gauge('sluice_gateway_spool_records', 'Records waiting to be sent.')
  const foreign = metrics.gauge(
    'sluice_gateway_spool_foreign_records',
    'Of these, encrypted with another SPOOL_KEY: they wait for a gateway that has it.',
  )
  const size = metrics.gauge('sluice_gateway_spool_bytes', 'Bytes of the spool on disk.')
  const aside = metrics.gauge(
    'sluice_gateway_spool_set_aside_bytes',
    'Bytes of set-aside segments of another version, which wait for a gateway that can read them.',
    [],
    'max',
  )
  const age = metrics.gauge(
    'sluice_gateway_spool_oldest_age_seconds',
    'Age of the oldest record waiting to be sent.',
    [],
    'max',
  )
  return {
    spoolLimit: (bytes) => limit.set(bytes),
    spoolLies(directory, bytes) {
      free.set(bytes)
      whenAsked(
        free,
        createFreeSpaceProbe(directory, (room) => free.set(room)),
      )
    },
    spool({ records, foreignRecords, bytes, asideBytes, oldestMs }, nowMs) {
      waiting.set(records)
      foreign.set(foreignRecords)
      size.set(bytes)
      aside.set(asideBytes)
      age.set(oldestMs === undefined ? 0 : Math.max(0, nowMs - oldestMs) / 1_000)
    },
  }
}

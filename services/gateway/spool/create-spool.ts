import { randomBytes } from 'node:crypto'
import type { Clock } from '#runtime/clock.ts'
import type { Log } from '#runtime/log.ts'
import type { GatewayConfig } from '../config.ts'
import type { GatewayMetrics } from '../metrics.ts'
import type { StripBodies } from './erase-bodies.ts'
import { Spool } from './spool.ts'

interface SpoolParts {
  metrics: GatewayMetrics
  log: Log
  clock: Clock
  stripBodies: StripBodies
}

/** Wires the spool of one process. */
export function createSpool(config: GatewayConfig, { metrics, clock, ...parts }: SpoolParts): Spool {
  metrics.spoolLimit(config.SPOOL_MAX_BYTES)
  metrics.spoolLies(config.SPOOL_DIR, config.SPOOL_MAX_BYTES)
  return new Spool({
    directory: config.SPOOL_DIR,
    name: `${process.pid}-${randomBytes(4).toString('hex')}`,
    key: config.SPOOL_KEY,
    maxBytes: config.SPOOL_MAX_BYTES,
    onLimit: (bytes) => metrics.spoolLimit(bytes),
    // At most the spools of all workers of the previous version.
    maxAsideBytes: config.SPOOL_MAX_BYTES * config.GATEWAY_WORKERS,
    maxWaitingBytes: config.CAPTURE_TOTAL_MAX_BYTES,
    ...parts,
    now: () => clock.now(),
    onLost: (reason, records) => metrics.lost(reason, records),
  })
}

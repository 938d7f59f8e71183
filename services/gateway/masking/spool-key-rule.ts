import { dropBodies } from '#detectors/masking/mask-record.ts'
import type { Log } from '#runtime/log.ts'
import { createThrottledLog } from '#runtime/throttled-log.ts'
import type { GatewayMetrics } from '../metrics.ts'
import type { OwnProject } from '../projects/own-project.ts'
import type { Caller } from '../traffic/authorize.ts'

/** Calls of projects that mask lie on disk encrypted or not at all, until they are masked. */
export interface SpoolKeyRule {
  /** What may be written of a record. Undefined: everything, as the spool is encrypted. */
  keep: ((record: Buffer, caller: Caller) => Buffer) | undefined
  problem(): string | null
}

interface RuleParts {
  own: Pick<OwnProject, 'settings'> | undefined
  metrics: Pick<GatewayMetrics, 'masked'>
  log: Log
}

const problem = 'SPOOL_KEY is not set: of projects that mask, calls are recorded without their bodies'

/** Without SPOOL_KEY traffic goes on, and such calls are recorded as not read. */
export function createSpoolKeyRule(isEncrypted: boolean, { own, metrics, log }: RuleParts): SpoolKeyRule {
  if (isEncrypted) return { keep: undefined, problem: () => null }
  const throttledLog = createThrottledLog(1)
  let hasDropped = false
  return {
    keep(record, { masks }) {
      if (masks !== true) return record
      hasDropped = true
      metrics.masked('dropped')
      throttledLog('no key', (unsaid) => log.error({ unsaid }, problem))
      return dropBodies(record, 'no_spool_key')
    },
    problem: () => (hasDropped || own?.settings()?.masks === true ? problem : null),
  }
}

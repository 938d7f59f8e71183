import type { Warn } from '../warn.ts'
import type { Shipper } from './shipper.ts'

/** How long an ending program waits for the API. */
const exitFlushMs = 3_000

interface Ending {
  /** Record counts at the last try: a failing flush is not repeated forever. */
  lastTry: number
  warn: Warn
}
const endings = new Map<Shipper, Ending>()

/**
 * Runs when nothing else keeps the process alive. One listener for all shippers, as Node warns about eleven.
 */
function flushAll(): void {
  for (const [shipper, ending] of endings) {
    const { waiting, sent } = shipper.stats()
    if (waiting === 0 || ending.lastTry === sent + waiting) continue
    ending.lastTry = sent + waiting
    void flushOrWarn(shipper, ending.warn)
  }
}

async function flushOrWarn(shipper: Shipper, warn: Warn): Promise<void> {
  if (await shipper.flush(exitFlushMs)) return
  const { waiting } = shipper.stats()
  warn('exit', `the program ends with ${waiting} record(s) that the API has not accepted: they are lost`)
}

/**
 * Flushes `shipper` when the program ends by itself, and warns of what could not be sent. Returns a function
 * that cancels it.
 */
export function flushAtExit(shipper: Shipper, warn: Warn): () => void {
  if (endings.size === 0) process.on('beforeExit', flushAll)
  endings.set(shipper, { lastTry: 0, warn })
  return () => {
    endings.delete(shipper)
    if (endings.size === 0) process.off('beforeExit', flushAll)
  }
}

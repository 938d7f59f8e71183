import type { Warn } from '../warn.ts'
import type { Shipper } from './shipper.ts'

/** A program that has ended waits this long for the API. */
const exitFlushMs = 3_000

interface Ending {
  /** What the shipper had to do with when it was last tried: a flush that fails is not tried for ever. */
  lastTry: number
  warn: Warn
}
const endings = new Map<Shipper, Ending>()

/** Fires when nothing else keeps the process. One for all shippers: eleven listeners would be warned of. */
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
  warn('exit', `the program ends with ${waiting} record(s) that the API has not taken: they are lost`)
}

/** Sends what `shipper` has when the program ends by itself, and says what it could not. Returns what takes that back. */
export function flushAtExit(shipper: Shipper, warn: Warn): () => void {
  if (endings.size === 0) process.on('beforeExit', flushAll)
  endings.set(shipper, { lastTry: 0, warn })
  return () => {
    endings.delete(shipper)
    if (endings.size === 0) process.off('beforeExit', flushAll)
  }
}

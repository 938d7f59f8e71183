import type { Shipper } from './shipper.ts'

/** A program that has ended waits this long for the API. */
const exitFlushMs = 3_000

/** What each shipper had to do with when it was last tried: a flush that fails is not tried for ever. */
const lastTries = new Map<Shipper, number>()

/** Fires when nothing else keeps the process. One for all shippers: eleven listeners would be warned of. */
function flushAll(): void {
  for (const [shipper, lastTry] of lastTries) {
    const { waiting, sent } = shipper.stats()
    if (waiting === 0 || lastTry === sent + waiting) continue
    lastTries.set(shipper, sent + waiting)
    void shipper.flush(exitFlushMs)
  }
}

/** Sends what `shipper` has when the program ends by itself. Returns what takes that back. */
export function flushAtExit(shipper: Shipper): () => void {
  if (lastTries.size === 0) process.on('beforeExit', flushAll)
  lastTries.set(shipper, 0)
  return () => {
    lastTries.delete(shipper)
    if (lastTries.size === 0) process.off('beforeExit', flushAll)
  }
}

import { existsSync, readlinkSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'
import { basename } from 'node:path'

/** Linux: a link to the calling thread, `<process>/task/<thread>`. */
const ownThread = '/proc/thread-self'
/** A third of the CPU beside a thread of nice 0, all of it when idle. */
const niceness = 5

/**
 * Lowers the calling thread's priority: a large call takes seconds of CPU beside an event loop that scores
 * small ones. Returns the new nice value, or undefined where threads have none of their own.
 */
export function lowerOwnPriority(): number | undefined {
  if (!existsSync(ownThread)) return undefined
  const thread = Number(basename(readlinkSync(ownThread)))
  setPriority(thread, Math.max(niceness, getPriority(thread)))
  return getPriority(thread)
}

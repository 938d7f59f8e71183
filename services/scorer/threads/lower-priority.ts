import { existsSync, readlinkSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'
import { basename } from 'node:path'

/** Linux: the link of the thread that asks, `<process>/task/<thread>`. */
const ownThread = '/proc/thread-self'
/** A third of the processor beside a thread of 0, all of it where nobody else wants it. */
const niceness = 5

/**
 * Lets other threads go before the one that calls: a large call keeps a processor busy for seconds, beside an
 * event loop that scores small ones. Returns the priority that the thread has then; undefined: on this system
 * threads have none of their own.
 */
export function lowerOwnPriority(): number | undefined {
  if (!existsSync(ownThread)) return undefined
  const thread = Number(basename(readlinkSync(ownThread)))
  setPriority(thread, Math.max(niceness, getPriority(thread)))
  return getPriority(thread)
}

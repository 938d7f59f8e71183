import type { Server } from 'node:http'
import { stopListening } from '#runtime/stop-listening.ts'
import type { GatewayConfig } from '../config.ts'
import type { LiveCalls } from './live-calls.ts'
import { CallTooLong } from './call-failures.ts'

interface DrainTimes {
  /**
   * How long new connections are still accepted, until load balancers notice that the gateway is not ready.
   */
  leadMs: number
  /** When remaining calls are aborted, measured from the start of the drain. */
  breakOffMs: number
}

/** Time before the deadline at which calls are aborted, left for writing and sending their records. */
const endBeforeDeadlineMs = 6_000

export function drainTimes({
  DRAIN_LEAD_MS: leadMs,
  DRAIN_DEADLINE_MS: deadlineMs,
}: GatewayConfig): DrainTimes {
  return { leadMs, breakOffMs: Math.max(deadlineMs / 2, deadlineMs - endBeforeDeadlineMs) }
}

/**
 * Resolves when every call has ended and been recorded, and every connection is closed. Includes calls that
 * continue after their application disconnected.
 */
export async function drainServer(
  server: Server,
  calls: LiveCalls,
  { leadMs, breakOffMs }: DrainTimes,
): Promise<void> {
  const overdue = setTimeout(() => void breakOff(server, calls), breakOffMs)
  calls.drain()
  await stopListening(server, Math.min(leadMs, breakOffMs))
  await calls.untilNone()
  clearTimeout(overdue)
}

async function breakOff(server: Server, calls: LiveCalls): Promise<void> {
  calls.breakOffAll(new CallTooLong('the gateway is stopping and the call did not end in time'))
  await calls.untilNone()
  // Requests still incomplete, and answers that nobody reads.
  server.closeAllConnections()
}

import type { Server } from 'node:http'
import { stopListening } from '#runtime/stop-listening.ts'
import type { GatewayConfig } from '../config.ts'
import type { LiveCalls } from './live-calls.ts'
import { CallTooLong } from './upstream.ts'

interface DrainTimes {
  /** How long connections are still accepted: until load balancers have seen that the gateway is not ready. */
  leadMs: number
  /** After how long, the lead included, calls are broken off. */
  breakOffMs: number
}

/** A stopping gateway breaks off the calls that are left so long before its deadline: for the disk to take their records, and to send. */
const endBeforeDeadlineMs = 6_000

export function drainTimes({
  DRAIN_LEAD_MS: leadMs,
  DRAIN_DEADLINE_MS: deadlineMs,
}: GatewayConfig): DrainTimes {
  return { leadMs, breakOffMs: Math.max(deadlineMs / 2, deadlineMs - endBeforeDeadlineMs) }
}

/**
 * Resolves when every call is over and recorded, also those that are heard out for an application that has gone, and every connection is
 * closed.
 */
export async function drainServer(
  server: Server,
  calls: LiveCalls,
  { leadMs, breakOffMs }: DrainTimes,
): Promise<void> {
  const overdue = setTimeout(() => void breakOff(server, calls), breakOffMs)
  await stopListening(server, Math.min(leadMs, breakOffMs))
  await calls.untilNone()
  clearTimeout(overdue)
}

async function breakOff(server: Server, calls: LiveCalls): Promise<void> {
  calls.breakOffAll(new CallTooLong('the gateway stops, and the call took longer than it may wait'))
  await calls.untilNone()
  // Those that have not sent a whole request, and those that do not read their answer.
  server.closeAllConnections()
}

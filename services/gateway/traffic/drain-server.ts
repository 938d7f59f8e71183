import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { GatewayConfig } from '../config.ts'
import type { LiveCalls } from './live-calls.ts'
import { CallTooLong } from './upstream.ts'

interface DrainTimes {
  /** How long connections are still accepted: until load balancers have seen that the gateway is not ready. */
  leadMs: number
  /** After how long, the lead included, calls are broken off. */
  patienceMs: number
}

const closeIdleEveryMs = 50

/** A stopping gateway breaks off the calls that are left so long before its deadline: for the disk to take their records, and to send. */
const endBeforeDeadlineMs = 6_000

export function drainTimes({
  DRAIN_LEAD_MS: leadMs,
  DRAIN_DEADLINE_MS: deadlineMs,
}: GatewayConfig): DrainTimes {
  return { leadMs, patienceMs: Math.max(deadlineMs / 2, deadlineMs - endBeforeDeadlineMs) }
}

/**
 * Resolves when every call is over and recorded, also those that are heard out for an application that has gone, and every connection is
 * closed.
 */
export async function drainServer(
  server: Server,
  calls: LiveCalls,
  { leadMs, patienceMs }: DrainTimes,
): Promise<void> {
  const overdue = setTimeout(() => void breakOff(server, calls), patienceMs)
  const sayClose = (_request: IncomingMessage, response: ServerResponse) => {
    response.shouldKeepAlive = false
  }
  server.prependListener('request', sayClose).prependListener('checkContinue', sayClose)
  await sleep(Math.min(leadMs, patienceMs))
  await closeServer(server)
  await calls.untilNone()
  clearTimeout(overdue)
}

async function breakOff(server: Server, calls: LiveCalls): Promise<void> {
  calls.breakOffAll(new CallTooLong('the gateway stops, and the call took longer than it may wait'))
  await calls.untilNone()
  // Those that have not sent a whole request, and those that do not read their answer.
  server.closeAllConnections()
}

/** Takes no more connections and waits for the answers that have begun. */
function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    // Connections become idle as their answers end.
    const idle = setInterval(() => server.closeIdleConnections(), closeIdleEveryMs)
    server.close(() => {
      clearInterval(idle)
      resolve()
    })
    server.closeIdleConnections()
  })
}

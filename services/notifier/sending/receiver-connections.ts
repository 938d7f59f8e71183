import type { buildConnector } from 'undici'
import { ConnectionPool } from '#runtime/http1/connection-pool.ts'
import type { AnswerHandler, Exchange, OutgoingRequest } from '#runtime/http1/outgoing-call.ts'

/** Attempts have their own limits (read-answer.ts). */
const unlimited = { answerMs: Infinity, bodyMs: Infinity }
/** Servers close idle connections after 5 s or more; ours are found idle up to 1 s late. */
const idle = { idleMs: 3_000, maxIdleMs: 30_000 }
const sweepMs = 1_000

/**
 * Connections to all receivers: at most `maxOpen` for as many attempts at the same time, as a new one closes
 * an idle one. One receiver has as many as it had attempts at the same time.
 */
export function createReceiverConnections(options: { connect: buildConnector.connector; maxOpen: number }) {
  const pools = new Map<string, ConnectionPool>()
  let open = 0
  const addPool = (key: string, origin: string) => {
    const pool = new ConnectionPool({
      ...unlimited,
      ...idle,
      origin: new URL(origin),
      connect: options.connect,
      maxConnections: Infinity,
      // Its attempt has waited up to the limit. The next opens another.
      keepsUnfinished: false,
      onOpen: () => {
        ++open
        while (open > options.maxOpen) if (!pools.values().some((one) => one.closeOldest())) break
      },
      onClose: () => open--,
    })
    pools.set(key, pool)
    return pool
  }
  const sweep = () => {
    for (const [key, pool] of pools) {
      if (!pool.isEmpty) continue
      void pool.close()
      pools.delete(key)
    }
  }
  const timer = setInterval(sweep, sweepMs).unref()
  return {
    /**
     * Sends over a free connection or a new one. Requests that may hang (not `isQuick`) use none of the quick
     * ones of their origin: a hanging request closes its connection, and another costs 20 ms with TLS on a
     * busy machine.
     */
    send(
      { origin, isQuick }: { origin: string; isQuick: boolean },
      request: OutgoingRequest,
      handler: AnswerHandler,
    ): Exchange {
      const key = isQuick ? origin : `slow ${origin}`
      return (pools.get(key) ?? addPool(key, origin)).send(request, handler)
    },
    async close(): Promise<void> {
      clearInterval(timer)
      for (const pool of pools.values()) await pool.close()
    },
  }
}

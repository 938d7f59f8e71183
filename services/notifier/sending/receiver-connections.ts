import type { buildConnector } from 'undici'
import { ConnectionPool } from '#runtime/http1/connection-pool.ts'
import type { AnswerHandler, Exchange, OutgoingRequest } from '#runtime/http1/outgoing-call.ts'

export interface Receiver {
  origin: string
  /** Whether it is known to answer soon. */
  isQuick: boolean
}

export interface ReceiverConnections {
  /**
   * Sends over a connection that is free, or a new one. What may hang takes no connection of the quick ones
   * of its origin: it would end it, and theirs had to wait for another (20 ms with TLS on a busy machine).
   */
  send(receiver: Receiver, request: OutgoingRequest, handler: AnswerHandler): Exchange
  close(): Promise<void>
}

/** Attempts have a limit of their own (read-answer.ts). */
const unlimited = { answerMs: Infinity, bodyMs: Infinity }
/**
 * Servers close idle connections after 5 s and more; ours are found idle up to a second late. A server that
 * promises longer is believed.
 */
const idle = { idleMs: 3_000, maxIdleMs: 30_000 }
const sweepMs = 1_000

/**
 * Connections to all receivers, no more than `maxOpen` while there are no more attempts at a time: those that
 * are idle are closed for one that is needed. Those of one receiver are as many as it had attempts at a time.
 */
export function createReceiverConnections(options: {
  connect: buildConnector.connector
  maxOpen: number
}): ReceiverConnections {
  const pools = new Map<string, ConnectionPool>()
  let open = 0
  const addPool = (key: string, origin: string) => {
    const pool = new ConnectionPool({
      ...unlimited,
      ...idle,
      origin: new URL(origin),
      connect: options.connect,
      maxConnections: Infinity,
      // Its attempt has waited for it to the limit; the next begins anew.
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
    send({ origin, isQuick }, request, handler) {
      const key = isQuick ? origin : `slow ${origin}`
      return (pools.get(key) ?? addPool(key, origin)).send(request, handler)
    },
    async close() {
      clearInterval(timer)
      for (const pool of pools.values()) await pool.close()
    },
  }
}

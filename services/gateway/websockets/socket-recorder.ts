import type { Log } from '#runtime/log.ts'
import { objectOf, parseJson } from '#capture/json.ts'
import type { SocketProtocol } from '#capture/socket-calls.ts'
import { createThrottledLog } from '#runtime/throttled-log.ts'
import type { GatewayMetrics } from '../metrics.ts'
import type { Dialect, SocketMessage } from './dialect.ts'
import { FrameReader, type UnreadReason } from './frame-reader.ts'
import type { Deflations } from './inflate-messages.ts'
import { LiveDialect } from './live-dialect.ts'
import { createResponses, type BrokenOff, type ResponseDependencies } from './open-response.ts'
import { RealtimeDialect, type RealtimeOptions } from './realtime-dialect.ts'
import { createResponsesDialect } from './responses-dialect.ts'

export interface SocketRecorderOptions extends ResponseDependencies {
  protocol: SocketProtocol
  /** From the address of the socket. */
  model: string | undefined
  /** Undefined: the two have agreed on something that the gateway does not know. */
  deflations: Deflations | undefined
  metrics: GatewayMetrics
  log: Log
}

/** A message may hold the sound or pictures of a few bodies; it is held only while it arrives. */
const messageFactor = 4
const maxNamedPerSecond = 10

const dialects: Readonly<Record<SocketProtocol, (options: RealtimeOptions) => Dialect>> = {
  responses: ({ responses }) => createResponsesDialect(responses),
  realtime: (options) => new RealtimeDialect(options),
  live: (options) => new LiveDialect(options),
}

/** Reads a copy of both directions of a socket, and records a call for each response. */
export function createSocketRecorder(options: SocketRecorderOptions) {
  const { deflations, budget, maxBodyBytes, metrics, log, firstId } = options
  const responses = createResponses(options)
  const dialect = dialects[options.protocol]({ ...options, responses })
  const throttledLog = createThrottledLog(maxNamedPerSecond)

  const unread = (reason: UnreadReason, error?: unknown) => {
    metrics.messageUnread(reason)
    throttledLog('unread', (unsaid) =>
      log.warn({ request_id: firstId, reason, err: error, unsaid }, 'a message of a WebSocket was not read'),
    )
  }
  const take = (bytes: Buffer, tell: (message: SocketMessage) => void) => {
    try {
      const value = objectOf(parseJson(bytes.toString('utf8')))
      if (value === undefined) unread('not_json')
      else tell({ value, bytes })
    } catch (error) {
      // Nested beyond the stack; or a mistake of ours, which must not end the socket.
      unread('not_json', error)
    }
  }
  const readerOf = (from: 'ofClient' | 'ofServer', tell: (message: SocketMessage) => void) =>
    new FrameReader({
      budget,
      maxBytes: maxBodyBytes * messageFactor,
      deflation: deflations?.[from],
      onMessage: (bytes) => take(bytes, tell),
      onUnread: unread,
    })
  return {
    client: readerOf('ofClient', (message) => dialect.sent(message)),
    server: readerOf('ofServer', (message) => dialect.received(message)),
    /** Whether no response is under way. */
    isIdle: () => responses.isIdle(),
    /** The socket is closed. Resolves when all is on disk. */
    close(broken: BrokenOff): Promise<void> {
      this.client.release()
      this.server.release()
      dialect.closing()
      return responses.breakOff(broken)
    },
  }
}

export type SocketRecorder = ReturnType<typeof createSocketRecorder>

import type { Metrics } from '#runtime/metrics.ts'
import { unreadReasons, type UnreadReason } from './frame-reader.ts'

export interface SocketMetrics {
  /** A WebSocket opens (1) or is closed (-1). */
  socketOpened(change: 1 | -1): void
  socketBytes(by: 'client' | 'upstream', count: number): void
  /** A message passed on, but not read for the record. */
  messageUnread(reason: UnreadReason): void
}

export function createSocketMetrics(metrics: Metrics): SocketMetrics {
  const open = metrics.gauge('sluice_gateway_websockets_open', 'WebSockets being forwarded.')
  const bytes = metrics.counter(
    'sluice_gateway_websocket_bytes_total',
    'Bytes of WebSockets passed on, by their sender.',
    ['by'],
  )
  const unread = metrics.counter(
    'sluice_gateway_websocket_messages_unread_total',
    'Messages of WebSockets that passed on and could not be read for the record.',
    ['reason'],
  )
  for (const reason of unreadReasons) unread.inc({ reason }, 0)
  return {
    socketOpened: (change) => open.inc(change),
    socketBytes: (by, count) => bytes.inc({ by }, count),
    messageUnread: (reason) => unread.inc({ reason }),
  }
}

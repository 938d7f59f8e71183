import type { IncomingMessage } from 'node:http'
import { traceContextOf, type Span, type Tracing } from '#runtime/tracing/tracing.ts'
import type { GatewayMetrics } from '../metrics.ts'
import type { Caller } from './authorize.ts'

/**
 * The span of a call, a child of the application's. The `traceparent` that the provider gets stays the
 * application's: the gateway changes no header.
 */
export function startCallSpan(
  tracing: Tracing,
  { method = 'GET', headers }: IncomingMessage,
  id: string,
  { projectId }: Caller,
): Span {
  return tracing.start('forward call', 'server', [traceContextOf(headers)], {
    'http.request.method': method,
    'sluice.request_id': id,
    'sluice.project_id': projectId,
  })
}

interface EndedCall {
  /** What the application received; null: nothing. */
  status: number | null
  abortedBy: 'client' | 'upstream' | null
  /** Time not spent waiting for the provider. */
  addedMs: number
  requestBytes: number
  answerBytes: number
  firstByteMs: number | null
}

/** Counts a call that has ended, and ends its span. */
export function measureCall(metrics: GatewayMetrics, span: Span | undefined, call: EndedCall): void {
  const { status, abortedBy, firstByteMs } = call
  metrics.ended(status)
  metrics.added(call.addedMs / 1_000)
  metrics.requestBytes(call.requestBytes)
  metrics.answerBytes(call.answerBytes)
  if (firstByteMs !== null) metrics.firstByte(firstByteMs / 1_000)
  if (abortedBy !== null) metrics.aborted(abortedBy)
  if (span !== undefined) endSpan(span, call)
}

/** It failed if the provider or the gateway did, not if the application went away. */
function endSpan(span: Span, { status, abortedBy }: EndedCall): void {
  span.set({ 'http.response.status_code': status ?? undefined, 'sluice.aborted_by': abortedBy ?? undefined })
  if (abortedBy === 'upstream') span.end(abortedBy)
  else span.end(status !== null && status >= 500 ? String(status) : undefined)
}

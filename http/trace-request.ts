import type { IncomingMessage, ServerResponse } from 'node:http'
import { traceContextOf, type Span, type Tracing } from '#runtime/tracing/tracing.ts'
import type { Route } from './route.ts'

/** The span of a request, a child of its client's. It ends with the answer. */
export function startRequestSpan(
  tracing: Tracing,
  { method, path }: Route,
  request: IncomingMessage,
  response: ServerResponse,
): Span {
  const verb = method.toUpperCase()
  const span = tracing.start(`${verb} ${path}`, 'server', [traceContextOf(request.headers)], {
    'http.request.method': verb,
    'http.route': path,
  })
  response.once('close', () => {
    const { statusCode } = response
    span.set({ 'http.response.status_code': statusCode })
    span.end(statusCode >= 500 ? String(statusCode) : undefined)
  })
  return span
}

import type { NextFunction, Request, RequestHandler, Response } from 'express'
import type { Metrics } from '#runtime/metrics.ts'

const durationBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const methods = new Set(['GET', 'POST', 'PATCH', 'DELETE', 'HEAD'])

/** Response times by purpose. The API's own histogram has its routes. */
export function measureAnswers(metrics: Metrics): RequestHandler {
  const durations = metrics.histogram(
    'sluice_dashboard_request_duration_seconds',
    'Answers by part',
    durationBuckets,
    ['method', 'what', 'status'],
  )
  return (request: Request, response: Response, next: NextFunction) => {
    const startedAt = performance.now()
    const part = partOf(request.path)
    const method = methods.has(request.method) ? request.method : 'other'
    response.once('close', () => {
      durations.observe(
        { method, what: part, status: response.statusCode },
        (performance.now() - startedAt) / 1000,
      )
    })
    next()
  }
}

function partOf(path: string): 'api' | 'sign_in' | 'assets' | 'page' {
  if (path.startsWith('/bff/api/')) return 'api'
  if (path.startsWith('/bff/')) return 'sign_in'
  return path.startsWith('/assets/') ? 'assets' : 'page'
}

import type { NextFunction, Request, Response } from 'express'
import type { Log } from '#runtime/log.ts'
import { DashboardProblem } from './dashboard-problem.ts'

/** Every error as `{detail, code}`; what nobody foresaw is logged and not told. */
export function createAnswerError(log: Log) {
  // Express knows an error handler by its four parameters.
  return (error: unknown, request: Request, response: Response, next: NextFunction): void => {
    const problem = problemOf(error)
    if (problem.status >= 500) {
      log[problem.status === 500 ? 'error' : 'warn']({ err: error, method: request.method }, 'request failed')
    }
    if (response.headersSent) {
      next(error)
      return
    }
    response.status(problem.status).set(problem.headers).json({ detail: problem.message, code: problem.code })
  }
}

function problemOf(error: unknown): DashboardProblem {
  if (error instanceof DashboardProblem) return error
  const status = typeof error === 'object' && error !== null && 'status' in error ? Number(error.status) : 500
  if (status === 413) return new DashboardProblem(413, 'BODY_TOO_LARGE', 'the body is larger than this takes')
  if (status >= 400 && status < 500) {
    return new DashboardProblem(400, 'BAD_REQUEST', 'the request could not be read')
  }
  return new DashboardProblem(500, 'INTERNAL', 'something went wrong here; it has been logged')
}

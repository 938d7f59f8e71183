import type { NextFunction, Request, Response } from 'express'
import { SluiceError } from '#runtime/errors.ts'
import type { Log } from '#runtime/log.ts'
import { Problem, unavailable } from './problem.ts'

/**
 * Answers every error as `{detail, code}`: no stack trace, and no message that was not written for clients.
 */
export function createAnswerError(log: Log) {
  // Express recognises an error handler by its four parameters.
  return (error: unknown, request: Request, response: Response, next: NextFunction): void => {
    if (response.headersSent) {
      log.error(
        { err: error, method: request.method, route: response.locals['route'] as unknown },
        'answer broke off',
      )
      next(error)
      return
    }
    const problem = problemOf(error)
    const route = typeof response.locals['route'] === 'string' ? response.locals['route'] : undefined
    if (problem.status >= 500) {
      log[problem.status === 503 ? 'warn' : 'error'](
        { err: error, method: request.method, route },
        'request failed',
      )
    }
    response.status(problem.status).set(problem.headers).json(problem.body())
  }
}

function problemOf(error: unknown): Problem {
  if (error instanceof Problem) return error
  if (error instanceof SluiceError && error.retry === 'later') {
    return unavailable('STORAGE_UNAVAILABLE', 'storage cannot be reached at the moment', error)
  }
  const status = statusOf(error)
  if (status === 413) return new Problem(413, 'BODY_TOO_LARGE', 'the body is larger than this route takes')
  if (status >= 400 && status < 500) return new Problem(400, 'BAD_REQUEST', 'the request could not be read')
  return new Problem(500, 'INTERNAL', 'something went wrong here; it has been logged')
}

/** The status that express puts on its errors. */
function statusOf(error: unknown): number {
  return typeof error === 'object' && error !== null && 'status' in error && typeof error.status === 'number'
    ? error.status
    : 500
}

import { Problem } from '#services/ingest/http/problem.ts'

/** 404. What belongs to somebody else is not told apart from what does not exist. */
export function notFound(what: string, id: string): Problem {
  return new Problem(404, 'NOT_FOUND', `there is no ${what} ${id}`)
}

/** The value, or 404. */
export function found<T>(value: T | undefined, what: string, id: string): T {
  if (value === undefined) throw notFound(what, id)
  return value
}

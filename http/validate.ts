import type { z } from 'zod'
import { invalidInput, type FieldError } from './problem.ts'

/** The schema's output, or 422 with the fields at fault. */
export function validate<S extends z.ZodType>(schema: S, input: unknown): z.output<S> {
  const parsed = schema.safeParse(input)
  if (parsed.success) return parsed.data
  throw invalidInput(parsed.error.issues.flatMap((issue) => errorsOf(issue, input)))
}

function errorsOf(issue: z.core.$ZodIssue, input: unknown): FieldError[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({ path: [...issue.path, key].join('.'), message: 'is not known here' }))
  }
  const isMissing = valueAt(input, issue.path) === undefined
  return [
    {
      path: issue.path.join('.'),
      message: isMissing ? 'is required' : issue.message,
    },
  ]
}

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input
  for (const key of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined
    value = (value as Record<PropertyKey, unknown>)[key]
  }
  return value
}

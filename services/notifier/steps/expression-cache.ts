import { compileFilterExpression, type FilterExpression } from '#runtime/filter-expression.ts'
import type { FilterValues } from '#runtime/filter-values.ts'
import { PermanentError } from '#runtime/errors.ts'
import { envelopeFields } from '#schemas/event-data.ts'

const maxCached = 1_000

export interface ExpressionCache {
  /** What the expression says, or why it says nothing: it cannot be compiled or fails on these values. */
  evaluate(source: string, values: FilterValues): boolean | PermanentError
}

/** Compiles each expression once, and keeps the most recently used. */
export function createExpressionCache(): ExpressionCache {
  const compiled = new Map<string, FilterExpression | PermanentError>()
  const compiledOf = (source: string): FilterExpression | PermanentError => {
    const expression = compiled.get(source) ?? compile(source)
    compiled.delete(source)
    compiled.set(source, expression)
    for (const oldest of compiled.keys()) {
      if (compiled.size <= maxCached) break
      compiled.delete(oldest)
    }
    return expression
  }
  return {
    evaluate(source, values) {
      const expression = compiledOf(source)
      return expression instanceof PermanentError ? expression : orItsFault(() => expression(values))
    },
  }
}

function compile(source: string): FilterExpression | PermanentError {
  return orItsFault(() => compileFilterExpression(source, envelopeFields))
}

/** A customer's expression that fails is the customer's: it sends nothing and stops nobody else. The caller counts it. */
function orItsFault<T>(work: () => T): T | PermanentError {
  try {
    return work()
  } catch (error) {
    if (error instanceof PermanentError) return error
    throw error
  }
}

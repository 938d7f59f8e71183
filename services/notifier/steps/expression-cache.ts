import { costOfCompiling, tooMuchTogether, type FilterShare } from '#runtime/filter-allowance.ts'
import { compileFilterExpression, type FilterExpression } from '#runtime/filter-expression.ts'
import type { FilterValues } from '#runtime/filter-values.ts'
import { PermanentError } from '#runtime/errors.ts'
import { envelopeFields } from '#schemas/event-data.ts'

const maxCached = 1_000

export interface ExpressionCache {
  /** The result, or why there is none: it does not compile, fails on these values or exceeds its share. */
  evaluate(source: string, values: FilterValues, share: FilterShare): boolean | PermanentError
}

/** Compiles each expression once, and keeps the most recently used. */
export function createExpressionCache(): ExpressionCache {
  const compiled = new Map<string, FilterExpression | PermanentError>()
  const compiledOf = (source: string, share: FilterShare): FilterExpression | PermanentError => {
    const known = compiled.get(source)
    if (known === undefined && !share.take(costOfCompiling(source)))
      return new PermanentError('EXPRESSION_FAILED', tooMuchTogether)
    const expression = known ?? compile(source)
    compiled.delete(source)
    compiled.set(source, expression)
    for (const oldest of compiled.keys()) {
      if (compiled.size <= maxCached) break
      compiled.delete(oldest)
    }
    return expression
  }
  return {
    evaluate(source, values, share) {
      const expression = compiledOf(source, share)
      return expression instanceof PermanentError ? expression : orItsFault(() => expression(values, share))
    },
  }
}

function compile(source: string): FilterExpression | PermanentError {
  return orItsFault(() => compileFilterExpression(source, envelopeFields))
}

/** A customer's expression that fails must not stop other deliveries. The caller counts it. */
function orItsFault<T>(work: () => T): T | PermanentError {
  try {
    return work()
  } catch (error) {
    if (error instanceof PermanentError) return error
    throw error
  }
}

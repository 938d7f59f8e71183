import { compileFilterExpression, type FilterExpression } from '#runtime/filter-expression.ts'
import { PermanentError } from '#runtime/errors.ts'
import { envelopeFields } from '#schemas/event-data.ts'

const maxCached = 1_000

export interface ExpressionCache {
  /** What the expression says; undefined when it cannot be compiled or fails on these values. */
  evaluate(source: string, values: Readonly<Record<string, unknown>>): boolean | undefined
}

/** Compiles each expression once, and keeps the most recently used. */
export function createExpressionCache(): ExpressionCache {
  const compiled = new Map<string, FilterExpression | undefined>()
  const compiledOf = (source: string): FilterExpression | undefined => {
    const expression = compiled.has(source) ? compiled.get(source) : compile(source)
    compiled.delete(source)
    compiled.set(source, expression)
    for (const oldest of compiled.keys()) {
      if (compiled.size <= maxCached) break
      compiled.delete(oldest)
    }
    return expression
  }
  return { evaluate: (source, values) => unlessPermanent(() => compiledOf(source)?.(values)) }
}

function compile(source: string): FilterExpression | undefined {
  return unlessPermanent(() => compileFilterExpression(source, envelopeFields))
}

/** A customer's expression that fails is the customer's: it sends nothing and stops nobody else. The caller counts it. */
function unlessPermanent<T>(work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    if (error instanceof PermanentError) return undefined
    throw error
  }
}

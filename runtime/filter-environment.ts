import {
  CelScalar,
  celEnv,
  celFunc,
  celMethod,
  isCelError,
  listType,
  plan,
  type CelFunc,
  type CelInput,
  type CelResult,
  type CelValue,
} from '@bufbuild/cel'
import { strings } from '@bufbuild/cel/ext'
import { PermanentError } from './errors.ts'
import type { FilterShare } from './filter-allowance.ts'
import { costOfElements, createFilterBudget, filterCosts, type FilterBudget } from './filter-costs.ts'
import type { FilterPatterns } from './filter-patterns.ts'

type Expression = Parameters<typeof plan>[1]

/** One evaluation. CEL evaluates synchronously, so there is one at a time. */
interface Evaluation {
  budget: FilterBudget
  patterns: FilterPatterns
}

/** Evaluates `expr`. Throws PermanentError (`EXPRESSION_FAILED`) when that costs too much. */
export type Evaluate = (values: Readonly<Record<string, CelInput>>, share?: FilterShare) => CelResult

/**
 * Plans expressions in one environment: CEL's own functions, each of which charges its cost to the
 * evaluation's budget.
 */
export function createFilterPlanner(): (expr: Expression, patterns: FilterPatterns) => Evaluate {
  let current: Evaluation | undefined
  const running = () => {
    if (current === undefined) throw new Error('no expression is being evaluated')
    return current
  }
  const environment = celEnv({ funcs: meteredFunctions(running) })
  return (expr, patterns) => {
    const run = plan(environment, expr)
    return (values, share) => {
      current = { budget: createFilterBudget(share), patterns }
      const result = run(values)
      const { exceeded } = current.budget
      current = undefined
      if (exceeded !== undefined) throw new PermanentError('EXPRESSION_FAILED', exceeded.message)
      return result
    }
  }
}

const list = listType(CelScalar.DYN)

function meteredFunctions(running: () => Evaluation): CelFunc[] {
  return [
    ...[...celEnv({ funcs: strings }).funcs].map((func) => metered(func, running)),
    // CEL's own concatenation searches through all nested sums for each element.
    celFunc('_+_', [list, list], list, (left, right) => {
      running().budget.draw(costOfElements(left.size + right.size))
      return [...left, ...right]
    }),
    celMethod('matches', CelScalar.STRING, [CelScalar.STRING], CelScalar.BOOL, function (source) {
      const { budget, patterns } = running()
      return patterns.test(source, this, budget)
    }),
  ]
}

/** The same function for the same types, which charges its cost before it runs. */
function metered(func: CelFunc, running: () => Evaluation): CelFunc {
  const cost = filterCosts.get(func.name)
  if (cost === undefined) return func
  const call = (target: CelValue | undefined, args: CelValue[]): CelInput => {
    cost(target === undefined ? args : [target, ...args], running().budget.draw)
    const result = func.call(0, target, args)
    if (result === undefined) throw new Error(`${func.id} does not take what it takes`)
    if (isCelError(result)) throw result
    return result
  }
  const { name, target, arguments: types, result } = func
  return target === undefined
    ? celFunc(name, types, result, (...args: CelValue[]) => call(undefined, args))
    : celMethod(name, target, types, result, function (this: CelValue, ...args: CelValue[]) {
        return call(this, args)
      })
}

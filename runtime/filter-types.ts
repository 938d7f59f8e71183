import { celMap, celType, isCelError, isCelList, isCelMap, type CelInput, type CelValue } from '@bufbuild/cel'
import { parseFilterExpression, type Expression, type ParsedFilter } from './filter-expression.ts'

type Values = Readonly<Record<string, CelInput>>
/** A value of each type that part of an expression can have; undefined: any type. */
type Possible = readonly CelValue[] | undefined

/** In a sample: a value of any type. */
export const anyValue = celMap(new Map())

/** Errors that no values can avoid. An index out of bounds, for instance, can be avoided. */
const typeFault = /^(found no matching overload|field not found|unsupported key type)/

/**
 * Checks the types of every part of an expression, also those that `&&`, `||` and `?:` may skip. `sample` has
 * a value of the right type for each variable and field. Throws PermanentError (`EXPRESSION_INVALID`) with
 * place and problem.
 */
export function checkFilterTypes(source: string, sample: Values): void {
  const filter = parseFilterExpression(source, Object.keys(sample))
  createExpectBoolean(filter, sample)(filter.expr)
}

/**
 * CEL evaluates each operation on the possible values of its parts, as it does on an event: @bufbuild/cel
 * 0.6.1 exports no type checker.
 */
function createExpectBoolean({ plan, refuse }: ParsedFilter, sample: Values) {
  const evaluate = (node: Expression, operation: Expression, rows: readonly Values[]): Possible => {
    const run = plan(operation)
    const results = rows.map((row) => run(row))
    const fault = results.filter(isCelError).find(({ message }) => typeFault.test(message))
    if (fault !== undefined) refuse(node, fault.message)
    const values = results.flatMap((result) => (isCelError(result) || result === anyValue ? [] : [result]))
    return values.length < results.length ? undefined : oneOfEachType(values)
  }
  const operate = (node: Expression): Possible => {
    const parts: Possible[] = []
    const operation = mapParts(node, (part) => variable(partName(parts.push(typesOf(part)) - 1)))
    if (parts.length === 0) return evaluate(node, node, [sample])
    if (!areKnown(parts)) return undefined
    const whole =
      callOf(node)?.function === '_[_]' ? parts[0]?.find((value) => !hasElements(value)) : undefined
    if (whole !== undefined) refuse(node, `${celType(whole).name} has no elements`)
    return evaluate(node, operation, rowsOf(parts))
  }
  const expectBoolean = (node: Expression) => {
    const call = callOf(node)
    if (call?.function === '_?_:_') {
      // Reported at the branch: the parser has no position for the whole.
      call.args.forEach(expectBoolean)
      return
    }
    const wrong = typesOf(node)?.find((value) => typeof value !== 'boolean')
    if (wrong !== undefined) refuse(node, `expected bool, got ${celType(wrong).name}`)
  }
  const typesOf = (node: Expression): Possible => {
    const call = callOf(node)
    if (call?.function === '_&&_' || call?.function === '_||_') {
      call.args.forEach(expectBoolean)
      return [true]
    }
    if (call?.function !== '_?_:_') return operate(node)
    call.args.slice(0, 1).forEach(expectBoolean)
    const branches = call.args.slice(1).map(typesOf)
    return areKnown(branches) ? oneOfEachType(branches.flat()) : undefined
  }
  return expectBoolean
}

function callOf({ exprKind }: Expression) {
  return exprKind.case === 'callExpr' ? exprKind.value : undefined
}

function areKnown(parts: readonly Possible[]): parts is (readonly CelValue[])[] {
  return !parts.includes(undefined)
}

function hasElements(value: CelValue): boolean {
  return isCelList(value) || isCelMap(value)
}

function oneOfEachType(values: readonly CelValue[]): CelValue[] {
  return [...new Map(values.map((value) => [celType(value).name, value])).values()]
}

/** All first values together, then each other value in its position: all combinations could be millions. */
function rowsOf(parts: readonly (readonly CelValue[])[]): Values[] {
  const first = Object.fromEntries(parts.map((values, index) => [partName(index), values[0] ?? null]))
  const others = parts.flatMap((values, index) =>
    values.slice(1).map((value) => ({ ...first, [partName(index)]: value })),
  )
  return [first, ...others]
}

function partName(index: number): string {
  return `part${index}`
}

function variable(name: string): Expression {
  const ident = { $typeName: 'cel.expr.Expr.Ident' as const, name }
  return { $typeName: 'cel.expr.Expr', id: 0n, exprKind: { case: 'identExpr', value: ident } }
}

/** The same operation on other parts. */
function mapParts(node: Expression, map: (part: Expression) => Expression): Expression {
  const { exprKind } = node
  switch (exprKind.case) {
    case 'selectExpr': {
      const { operand, ...select } = exprKind.value
      if (operand === undefined) return node
      return { ...node, exprKind: { case: exprKind.case, value: { ...select, operand: map(operand) } } }
    }
    case 'callExpr': {
      const { target, args, ...call } = exprKind.value
      const mapped = {
        ...call,
        ...(target === undefined ? {} : { target: map(target) }),
        args: args.map((each) => map(each)),
      }
      return { ...node, exprKind: { case: exprKind.case, value: mapped } }
    }
    case 'listExpr': {
      const elements = exprKind.value.elements.map((each) => map(each))
      return { ...node, exprKind: { case: exprKind.case, value: { ...exprKind.value, elements } } }
    }
    case 'identExpr':
    case 'constExpr':
    case 'structExpr':
    case 'comprehensionExpr':
    case undefined:
      return node
  }
}

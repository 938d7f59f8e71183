import { isCelError, parse } from '@bufbuild/cel'
import { messageOf, PermanentError } from './errors.ts'
import { costOfEvaluating, tooMuchTogether, type FilterShare } from './filter-allowance.ts'
import { createFilterPlanner, type Evaluate } from './filter-environment.ts'
import { createFilterPatterns, type FilterPatterns } from './filter-patterns.ts'
import type { FilterValues } from './filter-values.ts'

type Parsed = ReturnType<typeof parse>
export type Expression = Parsed['expr']
type Refuse = (node: Expression, problem: string) => never

/**
 * Evaluates the compiled expression on its variables. Throws PermanentError (`EXPRESSION_FAILED`) when it
 * fails, or costs more than one evaluation may (`filter-costs.ts`) or a shared allowance has left
 * (`filter-allowance.ts`).
 */
export type FilterExpression = (values: FilterValues, share?: FilterShare) => boolean

const maxLength = 2_000
const maxNesting = 50

// Each charges its cost to the evaluation's budget. Excluded are macros that loop and functions that lengthen
// text, whose cost is unknown until they have run.
const operators = ['_==_', '_!=_', '@in', '_&&_', '_||_', '!_', '_?_:_', '_[_]']
const comparisons = ['_<_', '_<=_', '_>_', '_>=_', '-_', '_+_', '_-_', '_*_', '_/_', '_%_']
const conversions = [
  'size',
  'int',
  'uint',
  'double',
  'string',
  'bool',
  'timestamp',
  'duration',
  'type',
  'dyn',
]
const textFunctions = ['startsWith', 'endsWith', 'contains', 'matches', 'lowerAscii', 'upperAscii', 'trim']
const positions = ['indexOf', 'lastIndexOf', 'charAt', 'substring']
const functions = new Set([...operators, ...comparisons, ...conversions, ...textFunctions, ...positions])
const typeNames = ['int', 'uint', 'double', 'string', 'bool', 'bytes', 'list', 'map', 'null_type']

/** Shared by all expressions: an environment is larger than most of them. */
const planFilter = createFilterPlanner()

/** A checked expression, ready for evaluation. */
export interface ParsedFilter {
  expr: Expression
  /** Plans the expression or one made from its parts. */
  plan: (operation: Expression) => Evaluate
  /** Throws PermanentError (`EXPRESSION_INVALID`) with line, column and problem. */
  refuse: Refuse
}

/**
 * Compiles a user's CEL expression over `variables`. Throws PermanentError (`EXPRESSION_INVALID`) with line,
 * column and problem.
 */
export function compileFilterExpression(source: string, variables: readonly string[]): FilterExpression {
  const { expr, plan } = parseFilterExpression(source, variables)
  const evaluate = plan(expr)
  return (values, share) => {
    if (share?.take(costOfEvaluating(source)) === false)
      throw new PermanentError('EXPRESSION_FAILED', tooMuchTogether)
    const result = evaluate(values, share)
    if (isCelError(result)) throw new PermanentError('EXPRESSION_FAILED', result.message)
    if (typeof result !== 'boolean') {
      throw new PermanentError('EXPRESSION_FAILED', 'the result is neither true nor false')
    }
    return result
  }
}

/** The first half of compileFilterExpression. Throws as it does. */
export function parseFilterExpression(source: string, variables: readonly string[]): ParsedFilter {
  if (source.length > maxLength) throw invalid(`it is longer than ${maxLength} characters`)
  if (nestingOf(source) > maxNesting) throw invalid(`its brackets are nested deeper than ${maxNesting}`)
  const { expr, sourceInfo } = parseExpression(source)
  const refuse: Refuse = (node, problem) => {
    const start = sourceInfo?.positions[node.id.toString()] ?? 0
    // For the parser some operators begin with the blanks before them.
    const before = source.slice(0, start + source.slice(start).search(/\S|$/)).split('\n')
    throw invalid(`line ${before.length}, column ${(before.at(-1) ?? '').length + 1}: ${problem}`)
  }
  const patterns = createFilterPatterns()
  check(expr, refuse, new Set([...variables, ...typeNames]), patterns)
  return { expr, plan: (operation) => planFilter(operation, patterns), refuse }
}

function invalid(problem: string, cause?: unknown): PermanentError {
  return new PermanentError('EXPRESSION_INVALID', `the filter expression is not valid: ${problem}`, { cause })
}

/** The parser recurses on brackets. Those in strings count too, which errs on the safe side. */
function nestingOf(source: string): number {
  let depth = 0
  let deepest = 0
  for (const character of source) {
    if ('([{'.includes(character)) deepest = Math.max(deepest, ++depth)
    else if (')]}'.includes(character)) depth--
  }
  return deepest
}

function parseExpression(source: string): Parsed {
  try {
    return parse(source)
  } catch (error) {
    throw invalid(messageOf(error).replace(/^<input>:(\d+):(\d+):/, 'line $1, column $2:'), error)
  }
}

/** Refuses unknown names and functions, which would fail on every event, and patterns that cost too much. */
function check(expr: Expression, refuse: Refuse, names: ReadonlySet<string>, patterns: FilterPatterns): void {
  const visit = (node: Expression | undefined): void => {
    if (node === undefined) return
    const { exprKind } = node
    switch (exprKind.case) {
      case 'identExpr':
        if (!names.has(exprKind.value.name)) refuse(node, `unknown name ${exprKind.value.name}`)
        return
      case 'selectExpr':
        visit(exprKind.value.operand)
        return
      case 'callExpr':
        if (!functions.has(exprKind.value.function))
          refuse(node, `unknown function ${exprKind.value.function}`)
        if (exprKind.value.function === 'matches') {
          const problem = problemOfMatch(exprKind.value.args, patterns)
          if (problem !== undefined) refuse(node, problem)
        }
        for (const part of [exprKind.value.target, ...exprKind.value.args]) visit(part)
        return
      case 'listExpr':
        exprKind.value.elements.forEach(visit)
        return
      case 'structExpr':
        refuse(node, 'maps and messages are not supported')
        return
      case 'comprehensionExpr':
        refuse(node, 'macros that loop are not supported')
        return
      case 'constExpr':
      case undefined:
        return
    }
  }
  visit(expr)
}

function problemOfMatch(args: readonly Expression[], patterns: FilterPatterns): string | undefined {
  const pattern =
    args.length === 1 && args[0]?.exprKind.case === 'constExpr' ? args[0].exprKind.value : undefined
  if (pattern?.constantKind.case !== 'stringValue') return 'matches takes one pattern, as text in quotes'
  return patterns.add(pattern.constantKind.value)
}

import { z } from 'zod'
import { textField } from '#http/fields.ts'
import type { ColumnComparison } from '../stores/compare-columns.ts'

const textColumns = {
  model: 256,
  provider: 64,
  agent_name: 256,
  agent_tag: 256,
  session_id: 256,
  user_id: 256,
  type: 256,
  tool_name: 256,
} as const
const textOperators = {
  not: 'Any value but this, also none.',
  contains: 'Contains this, in any case of letters.',
  prefix: 'Begins with this.',
} as const
const numberColumns = [
  'latency_ms',
  'time_to_first_token_ms',
  'cost_usd',
  'prompt_tokens',
  'completion_tokens',
  'status_code',
] as const
const numberOperators = { gt: 'Greater than this.', lt: 'Less than this.' } as const

export const numberField = z
  .string()
  .regex(/^-?\d{1,15}(\.\d{1,12})?$/, 'must be a number, for instance 1500 or 0.25')
  .transform(Number)

/** What each operator selects. */
export const operatorWords = { ...textOperators, ...numberOperators }
export const isNumberOperator = (operator: string) => Object.hasOwn(numberOperators, operator)

const comparisons = new Map<string, Omit<ColumnComparison, 'value'>>([
  ...pairsOf(Object.keys(textColumns), textOperators),
  ...pairsOf(numberColumns, numberOperators),
])

function pairsOf(columns: readonly string[], operators: Readonly<Record<string, string>>) {
  return columns.flatMap((column) =>
    Object.keys(operators).map(
      (operator) => [`${column}.${operator}`, { column, operator } as ColumnComparison] as const,
    ),
  )
}

/** Query parameters `<field>.<operator>`, which select by other comparisons than equality. */
export const operatorFields: Readonly<Record<string, z.ZodOptional<z.ZodType<string | number>>>> =
  Object.fromEntries(
    [...comparisons].map(([name, { column, operator }]) => {
      const isNumber = operator === 'gt' || operator === 'lt'
      const field = isNumber ? numberField : textField(textColumns[column as keyof typeof textColumns])
      const words = isNumber ? numberOperators[operator] : textOperators[operator]
      return [name, field.optional().describe(words)]
    }),
  )

/** The comparisons of a query. */
export function readComparisons(query: Readonly<Record<string, unknown>>): ColumnComparison[] {
  return [...comparisons].flatMap(([name, { column, operator }]) => {
    const value = query[name]
    return typeof value === 'string' || typeof value === 'number' ? [{ column, operator, value }] : []
  })
}

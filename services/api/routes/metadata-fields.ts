import {
  isMetadataFilter,
  metadataComparison,
  metadataKeyOf,
  metadataPrefix,
  readMetadataComparison,
} from '#schemas/metadata-filter.ts'
import { textField } from '#http/fields.ts'
import { invalidInput } from '#http/problem.ts'
import type { Comparison } from '../stores/compare-columns.ts'
import type { RequestFilters } from '../stores/select-requests.ts'
import { isNumberOperator, numberField, operatorWords } from './operator-fields.ts'

/** Each is two conditions, planned for every day's partition. */
const maxFilters = 10
/** UTF-16 units, including the prefix. */
const maxName = 256
const valueField = textField(1_024)

/**
 * The metadata filters in OpenAPI, which has no parameters with free names but objects whose members are
 * parameters.
 */
export const metadataParameters = [
  openParameter(
    metadataPrefix,
    `Metadata that a call has, each as a parameter of its own: \`metadata.team=support\`. At most ${maxFilters} by metadata.`,
  ),
  ...Object.entries(operatorWords).map(([operator, words]) =>
    openParameter(
      metadataComparison(operator as keyof typeof operatorWords, ''),
      isNumberOperator(operator) ? `${words} Of values that are numbers.` : words,
    ),
  ),
]

function openParameter(prefix: string, description: string) {
  return {
    name: `${prefix}<key>`,
    description,
    schema: {
      type: 'object',
      propertyNames: { pattern: `^${prefix.replace('.', '\\.')}.`, maxLength: maxName },
      additionalProperties: { type: 'string', minLength: 1, maxLength: 1_024 },
      maxProperties: maxFilters,
    },
    // The initial value of a form: an invented member would be an unwanted filter.
    example: {},
  }
}

/**
 * The filters by metadata among a query's open parameters. Throws 422 for others; `explain` says what is
 * wrong with one.
 */
export function readMetadata(
  given: readonly (readonly [name: string, value: unknown])[],
  explain: (name: string) => string,
): Pick<RequestFilters, 'metadata'> & { compared: Comparison[] } {
  const unknown = given.filter(
    ([name]) => !isMetadataFilter(name) && readMetadataComparison(name) === undefined,
  )
  if (unknown.length > 0) throw invalidInput(unknown.map(([path]) => ({ path, message: explain(path) })))
  const [tooMany] = given[maxFilters] ?? []
  if (tooMany !== undefined)
    throw invalidInput([{ path: tooMany, message: `is more than ${maxFilters} metadata filters` }])
  const read = given.map(([name, value]) => readOne(name, value))
  return {
    metadata: Object.fromEntries(
      read.flatMap((one) => ('operator' in one ? [] : [[one.key, String(one.value)]])),
    ),
    compared: read.flatMap((one) =>
      'operator' in one ? [{ metadataKey: one.key, operator: one.operator, value: one.value }] : [],
    ),
  }
}

function readOne(name: string, value: unknown) {
  const compared = readMetadataComparison(name)
  const isNumber = compared !== undefined && isNumberOperator(compared.operator)
  const named = textField(maxName).safeParse(name)
  const read = (isNumber ? numberField : valueField).safeParse(value)
  const { issues } = named.error ?? read.error ?? { issues: [] }
  if (issues.length > 0) throw invalidInput(issues.map(({ message }) => ({ path: name, message })))
  return { ...(compared ?? { key: metadataKeyOf(name) }), value: read.data as string | number }
}

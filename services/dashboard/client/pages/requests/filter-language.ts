import {
  isMetadataFilter,
  metadataComparison,
  metadataKeyOf,
  metadataPrefix,
  readMetadataComparison,
} from '#schemas/metadata-filter.ts'
import { filterLabels, filterValues, shownValue, type FilterName } from './read-filters.ts'

/** Operators in the words that a person types, the longest first where one begins another. */
const operatorWords = {
  not: ['is not', '!='],
  is: ['is', '='],
  contains: ['contains'],
  prefix: ['starts with'],
  gt: ['>'],
  lt: ['<'],
} as const
type Operator = keyof typeof operatorWords

const compared = ['is', 'not', 'contains', 'prefix'] as const
const textFields: ReadonlySet<string> = new Set<FilterName>([
  ...(['model', 'provider', 'agent_name', 'agent_tag'] as const),
  ...(['tool_name', 'type', 'session_id', 'user_id'] as const),
])
const numberLabels = {
  latency_ms: 'Latency in ms',
  time_to_first_token_ms: 'First token in ms',
  cost_usd: 'Cost in US$',
  prompt_tokens: 'Prompt tokens',
  completion_tokens: 'Completion tokens',
  status_code: 'Status code',
} as const

interface Field {
  name: string
  label: string
  operators: readonly Operator[]
}

const fields: readonly Field[] = [
  ...Object.entries(filterLabels).map(([name, label]) => ({
    name,
    label,
    operators: textFields.has(name) ? compared : (['is'] as const),
  })),
  ...Object.entries(numberLabels).map(([name, label]) => ({
    name,
    label,
    operators: ['gt', 'lt'] as const,
  })),
]

/** Whether the address may have such a filter. */
export function isFilter(parameter: string): boolean {
  return fieldOf(parameter) !== undefined
}

/** A filter's field and operator in words: `Model is not`. */
export function labelOfFilter(parameter: string): string {
  const found = fieldOf(parameter)
  if (found === undefined) return parameter
  return found.operator === 'is' ? found.field.label : `${found.field.label} ${wordOf(found.operator)}`
}

/** A metadata key, whose values may be texts or numbers. */
const metadataField = (key: string): Field => ({
  name: metadataPrefix + key,
  label: metadataPrefix + key,
  operators: [...compared, 'gt', 'lt'],
})

function fieldOf(parameter: string): { field: Field; operator: Operator } | undefined {
  if (isMetadataFilter(parameter)) return { field: metadataField(metadataKeyOf(parameter)), operator: 'is' }
  const metadata = readMetadataComparison(parameter)
  if (metadata !== undefined) return { field: metadataField(metadata.key), operator: metadata.operator }
  const [name = '', operator = 'is', ...rest] = parameter.split('.')
  const field = fields.find((each) => each.name === name)
  const known = field?.operators.find((each) => each === operator)
  return field === undefined || known === undefined || rest.length > 0
    ? undefined
    : { field, operator: known }
}

const wordOf = (operator: Operator) => operatorWords[operator][0]

/** A typed filter as far as it goes, or what is wrong with it. */
export type TypedFilter =
  | { kind: 'field'; typed: string }
  | { kind: 'operator'; field: Field; typed: string }
  | { kind: 'value'; field: Field; operator: Operator; typed: string }
  | { kind: 'wrong'; message: string }

/** Reads `Model is not gpt-4o`, `latency in ms > 500` or `metadata.team is support`. */
export function readTyped(text: string): TypedFilter {
  const typed = text.trimStart()
  const [field, rest] = readField(typed)
  if (field === undefined) return { kind: 'field', typed }
  const found = field.operators
    .flatMap((operator) => operatorWords[operator].map((word) => ({ operator, word })))
    .sort((one, other) => other.word.length - one.word.length)
    .find(({ word }) => startsWithWord(rest, word))
  if (found !== undefined) {
    const value = rest.slice(found.word.length).trim()
    return { kind: 'value', field, operator: found.operator, typed: value }
  }
  const isBegun = rest === '' || field.operators.some((operator) => wordOf(operator).startsWith(rest))
  if (isBegun) return { kind: 'operator', field, typed: rest }
  const words = field.operators.map(wordOf).join(', ')
  return { kind: 'wrong', message: `${field.label} can be compared by: ${words}` }
}

function readField(typed: string): [Field | undefined, string] {
  const lower = typed.toLowerCase()
  const metadata = /^metadata\.(\S+)(?:\s|$)/.exec(typed)
  if (metadata !== null) {
    return [metadataField(metadata[1] ?? ''), typed.slice(metadata[0].length).trimStart()]
  }
  const found = fields
    .flatMap((field) => [field.label, field.name].map((word) => ({ field, word: word.toLowerCase() })))
    .sort((one, other) => other.word.length - one.word.length)
    .find(({ word }) => lower.startsWith(`${word} `))
  return found === undefined ? [undefined, typed] : [found.field, typed.slice(found.word.length).trimStart()]
}

function startsWithWord(text: string, word: string): boolean {
  if (!text.toLowerCase().startsWith(word)) return false
  return !/\w$/.test(word) || /^(\s|$)/.test(text.slice(word.length))
}

/** The filter of the address and its value, or why it is none. */
export function finishTyped(text: string): { name: string; value: string } | { message: string } {
  const read = readTyped(text)
  if (read.kind === 'wrong') return { message: read.message }
  if (read.kind === 'field') {
    const known = fields.map(({ label }) => label).join(', ')
    return { message: `There is no field “${read.typed.trim()}”. Fields: ${known}, metadata.<key>` }
  }
  if (read.kind === 'operator')
    return { message: `Add ${read.field.operators.map(wordOf).join(', ')} and a value` }
  const { field, operator, typed } = read
  const isNumber = operator === 'gt' || operator === 'lt'
  if (typed === '' || (isNumber && !/^-?\d+(\.\d+)?$/.test(typed)))
    return { message: isNumber ? 'Enter a number' : 'Enter a value' }
  const fixed = filterValues[field.name]
  const value = fixed?.find((each) => [each, shownValue(field.name, each)].includes(typed)) ?? typed
  if (fixed?.includes(value) === false) return { message: `${field.label} is one of: ${fixed.join(', ')}` }
  return { name: parameterOf(field.name, operator), value }
}

/** The parameter of the address and the API. */
function parameterOf(name: string, operator: Operator): string {
  if (operator === 'is') return name
  if (isMetadataFilter(name)) return metadataComparison(operator, metadataKeyOf(name))
  return `${name}.${operator}`
}

/** Suggestions shown at once. */
const maxSuggestions = 12

/** How the typed text can go on. `valuesOf`: known values of a field, most frequent first. */
export function suggest(text: string, valuesOf: (name: string) => readonly string[]): string[] {
  const read = readTyped(text)
  if (read.kind === 'wrong') return []
  if (read.kind === 'field') {
    const wanted = read.typed.trim().toLowerCase()
    return fields.map(({ label }) => label).filter((label) => label.toLowerCase().includes(wanted))
  }
  const { label, operators } = read.field
  if (read.kind === 'operator')
    return operators
      .map(wordOf)
      .filter((word) => word.startsWith(read.typed))
      .map((word) => `${label} ${word}`)
  if (read.operator !== 'is' && read.operator !== 'not') return []
  const known = filterValues[read.field.name] ?? valuesOf(read.field.name)
  const begun = operators
    .map(wordOf)
    .filter((word) => word.startsWith(`is ${read.typed}`) && read.operator === 'is')
  const values = known
    .map((value) => shownValue(read.field.name, value))
    .filter((value) => value.toLowerCase().includes(read.typed.toLowerCase()))
    .slice(0, maxSuggestions)
    .map((value) => `${wordOf(read.operator)} ${value}`)
  return [...begun, ...values].map((rest) => `${label} ${rest}`)
}

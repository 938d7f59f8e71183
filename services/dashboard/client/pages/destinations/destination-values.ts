import type { Input } from '../../api/call-api.ts'
import {
  fieldOfPath,
  kindForms,
  partsOf,
  textsOf,
  type Destination,
  type Kind,
  type TypedFields,
} from './kind-fields.ts'

/** The fields of the form. */
export interface DestinationValues {
  kind: Kind
  typed: TypedFields
  /** Empty in a new form: those of the kind. */
  events: Destination['events']
  severity: NonNullable<Destination['filters']['severity']>
  scorers: string[]
  expression: string
  includeText: boolean
  maxPerMinute: number | ''
}

const perMinuteForPeople = 30

/** The form of a destination, or of a new one of a kind. */
export function valuesOf(destination: Destination | undefined, kind: Kind = 'slack'): DestinationValues {
  if (destination === undefined) {
    const { isForPeople } = kindForms[kind]
    return {
      ...{ kind, typed: textsOf(kind, undefined), events: [], severity: [], scorers: [], expression: '' },
      ...{ includeText: !isForPeople, maxPerMinute: isForPeople ? perMinuteForPeople : '' },
    }
  }
  return {
    kind: destination.kind,
    typed: textsOf(destination.kind, destination.settings),
    events: destination.events,
    severity: destination.filters.severity ?? [],
    scorers: destination.filters.scorer_name ?? [],
    expression: destination.filter_expression ?? '',
    includeText: destination.include_text,
    maxPerMinute: destination.max_per_minute ?? '',
  }
}

/** The body for the API, without the kind. */
export function bodyOf(values: DestinationValues): Omit<Input<'POST /api/v1/destinations'>['body'], 'kind'> {
  const { kind, typed, events, severity, scorers, expression, includeText, maxPerMinute } = values
  return {
    ...partsOf(kind, typed),
    ...(events.length === 0 ? {} : { events }),
    filters: { severity, scorer_name: scorers },
    filter_expression: expression.trim() === '' ? null : expression,
    include_text: includeText,
    max_per_minute: maxPerMinute === '' ? null : maxPerMinute,
  }
}

/** What may be kept in the tab: no credential. */
export function withoutSecrets(values: DestinationValues): DestinationValues {
  const open = Object.entries(values.typed).filter(([key]) => !key.startsWith('credentials.'))
  return { ...values, typed: Object.fromEntries(open) }
}

const fields: Readonly<Record<string, string>> = {
  events: 'events',
  filter_expression: 'expression',
  max_per_minute: 'maxPerMinute',
}

/** The API's faults by field of the form. */
export function errorsByField(
  kind: Kind,
  errors: readonly { path: string; message: string }[],
): Record<string, string> {
  return Object.fromEntries(
    errors.flatMap(({ path, message }) => {
      const field = fieldOfPath(kind, path) ?? fields[path]
      return field === undefined ? [] : [[field, message]]
    }),
  )
}

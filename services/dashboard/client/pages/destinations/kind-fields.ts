import type { Item } from '../../api/call-api.ts'

export type Destination = Item<'GET /api/v1/destinations'>
export type Kind = Destination['kind']

/** A setting or credential as the form asks for it. Credentials are never shown again. */
export interface KindField {
  part: 'settings' | 'credentials'
  /** As the API has it; `header.name` is in an object. */
  name: string
  label: string
  description?: string
  /** `lines`: one value a line, a list for the API. */
  input: 'text' | 'secret' | 'number' | 'switch' | 'choice' | 'lines' | 'code'
  choices?: readonly string[]
  /** Shown in a new form. Absent: empty. */
  initial?: string
  isOptional?: true
}

interface KindForm {
  label: string
  /** Shows text to people: fewer events by default, and no text of calls. */
  isForPeople: boolean
  fields: readonly KindField[]
}

const setting = (name: string, label: string, rest: Partial<KindField> = {}): KindField => ({
  ...{ part: 'settings', name, label, input: 'text' },
  ...rest,
})
const secret = (name: string, label: string, rest: Partial<KindField> = {}): KindField => ({
  ...{ part: 'credentials', name, label, input: 'secret' },
  ...rest,
})
const listed = 'Only where the operator lists it in DESTINATION_ALLOW'
const header = [
  secret('header.name', 'Header for authentication', { input: 'text', isOptional: true }),
  secret('header.value', 'Value of the header', { isOptional: true }),
]
const tls = { input: 'choice' } as const
const batch = (...choices: string[]) =>
  setting('batch', 'Events that are due together', {
    ...{ input: 'choice', choices, isOptional: true },
    description: 'Empty: one request for each event',
  })

/** The form of each kind: what docs/destinations.md lists. */
export const kindForms: Readonly<Record<Kind, KindForm>> = {
  slack: { label: 'Slack', isForPeople: true, fields: [secret('url', 'Incoming webhook URL')] },
  teams: { label: 'Microsoft Teams', isForPeople: true, fields: [secret('url', 'Workflow URL')] },
  pagerduty: {
    label: 'PagerDuty',
    isForPeople: true,
    fields: [
      setting('url', 'Events API', {
        initial: 'https://events.pagerduty.com/v2/enqueue',
        description: 'EU accounts: https://events.eu.pagerduty.com/v2/enqueue',
      }),
      secret('routing_key', 'Integration key'),
    ],
  },
  jira: {
    label: 'Jira',
    isForPeople: true,
    fields: [
      setting('url', 'Site', { description: 'https://your-team.atlassian.net' }),
      setting('user', 'Account (e-mail)'),
      setting('project_key', 'Project key'),
      setting('issue_type', 'Issue type', { initial: 'Task' }),
      secret('token', 'API token'),
    ],
  },
  email: {
    label: 'E-mail',
    isForPeople: true,
    fields: [
      setting('host', 'Mail server', { description: listed }),
      setting('port', 'Port', { input: 'number', initial: '587' }),
      setting('tls', 'TLS', { ...tls, choices: ['starttls', 'implicit', 'none'], initial: 'starttls' }),
      setting('user', 'User', { isOptional: true }),
      setting('from', 'From'),
      setting('to', 'To', { input: 'lines', description: 'One address a line' }),
      secret('password', 'Password', { isOptional: true }),
    ],
  },
  splunk_hec: {
    label: 'Splunk HEC',
    isForPeople: false,
    fields: [
      setting('url', 'Collector', { description: 'https://host:8088/services/collector/event' }),
      setting('index', 'Index', { isOptional: true }),
      setting('sourcetype', 'Source type', { initial: 'sluice:event' }),
      secret('token', 'Token'),
    ],
  },
  json: {
    label: 'JSON over HTTP',
    isForPeople: false,
    fields: [
      setting('url', 'URL'),
      setting('template', 'Template', {
        ...{ input: 'code', isOptional: true },
        description: 'JSON with {{field}} in its strings. Empty: the event itself',
      }),
      batch('none', 'array', 'bulk'),
      ...header,
    ],
  },
  ocsf: {
    label: 'OCSF over HTTP',
    isForPeople: false,
    fields: [setting('url', 'URL'), batch('none', 'array'), ...header],
  },
  syslog: {
    label: 'Syslog',
    isForPeople: false,
    fields: [
      setting('host', 'Server', { description: listed }),
      setting('port', 'Port', { input: 'number', initial: '6514' }),
      setting('tls', 'TLS', { input: 'switch', initial: 'true' }),
      setting('format', 'Message', { input: 'choice', choices: ['text', 'ocsf'], initial: 'text' }),
      setting('facility', 'Facility', { input: 'number', initial: '13' }),
      setting('app_name', 'App name', { initial: 'sluice' }),
    ],
  },
}

/** What is typed, by part and name: `settings.url`. */
export type TypedFields = Readonly<Record<string, string>>

const keyOf = ({ part, name }: KindField) => `${part}.${name}`

/** The texts of a form's fields: of an existing destination its settings, never its credentials. */
export function textsOf(kind: Kind, settings: Readonly<Record<string, unknown>> | undefined): TypedFields {
  return Object.fromEntries(
    kindForms[kind].fields.map((field) => {
      const value = field.part === 'settings' ? settings?.[field.name] : undefined
      const initial = settings === undefined ? (field.initial ?? '') : ''
      return [keyOf(field), value === undefined ? initial : textOf(value)]
    }),
  )
}

const textOf = (value: unknown) => (Array.isArray(value) ? value.join('\n') : String(value))

/** Settings and credentials for the API. `credentials` is undefined if none is typed: they stay. */
export function partsOf(
  kind: Kind,
  typed: TypedFields,
): { settings: Record<string, unknown>; credentials?: Record<string, unknown> } {
  const parts = { settings: {}, credentials: {} } as Record<KindField['part'], Record<string, unknown>>
  for (const field of kindForms[kind].fields) {
    const text = typed[keyOf(field)] ?? ''
    if (text.trim() === '') continue
    const [name = '', inner] = field.name.split('.')
    const part = parts[field.part]
    part[name] = inner === undefined ? valueOf(field, text) : { ...(part[name] as object), [inner]: text }
  }
  const { settings, credentials } = parts
  return Object.keys(credentials).length === 0 ? { settings } : { settings, credentials }
}

function valueOf({ input }: KindField, text: string): unknown {
  if (input === 'number') return Number(text)
  if (input === 'switch') return text === 'true'
  if (input !== 'lines') return input === 'code' ? text : text.trim()
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}

/** The field that a fault of the API is about: `credentials.header.name`, `settings.to.0`. */
export function fieldOfPath(kind: Kind, path: string): string | undefined {
  const found = kindForms[kind].fields.find((field) => `${path}.`.startsWith(`${keyOf(field)}.`))
  return found === undefined ? undefined : keyOf(found)
}

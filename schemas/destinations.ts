import { z } from 'zod'
import { selectableEvents, type EventName } from './event-raised.ts'

/**
 * Where events go. `webhook`: specification 3.3 and 6, exactly. The others get the same events in their own
 * format, keep retrying after the third retry, and have settings and credentials.
 */
export const destinationKinds = [
  'webhook',
  'slack',
  'teams',
  'pagerduty',
  'jira',
  'email',
  'splunk_hec',
  'json',
  'ocsf',
  'syslog',
] as const
export type DestinationKind = (typeof destinationKinds)[number]

const word = (max: number) => z.string().trim().min(1).max(max)
const httpUrl = z.string().max(2_048)
/** A header's value: visible ASCII, no line break. */
const headerText = z
  .string()
  .max(4_096)
  .regex(/^[\x20-\x7e]+$/, 'must be visible ASCII on one line')
const hostName = z
  .string()
  .max(253)
  .regex(/^[A-Za-z0-9.:_-]+$/, 'must be a host name or an address')
const port = z.number().int().min(1).max(65_535)
const mailbox = z
  .string()
  .max(254)
  .regex(/^[^\s@<>(),;:\\"[\]]+@[A-Za-z0-9.-]+$/, 'must be an e-mail address')
/** Read by `Authorization` or a header of the receiver's choice. */
const header = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9-]{1,64}$/, 'must be the name of a header'),
  value: headerText,
})

/** What the owner sees again. `url` and the like are checked as webhooks' addresses are. */
const settingsSchemas = {
  webhook: z.strictObject({}),
  slack: z.strictObject({}),
  teams: z.strictObject({}),
  pagerduty: z.strictObject({
    url: httpUrl
      .default('https://events.pagerduty.com/v2/enqueue')
      .describe('EU accounts: https://events.eu.pagerduty.com/v2/enqueue'),
  }),
  jira: z.strictObject({
    url: httpUrl.describe('The site: https://your-team.atlassian.net'),
    user: mailbox.describe('The account of the API token.'),
    project_key: z.string().regex(/^[A-Z][A-Z0-9_]{1,49}$/, 'must be the key of a Jira project'),
    issue_type: word(60).default('Task'),
  }),
  email: z.strictObject({
    host: hostName,
    port: port.default(587),
    tls: z
      .enum(['starttls', 'implicit', 'none'])
      .default('starttls')
      .describe('`none` only where DESTINATION_ALLOW lists the address as `plain:host:port`.'),
    user: word(254).optional(),
    from: mailbox,
    to: z.array(mailbox).min(1).max(20),
  }),
  splunk_hec: z.strictObject({
    url: httpUrl.describe('The collector: https://host:8088/services/collector/event'),
    index: word(80).optional(),
    sourcetype: word(80).default('sluice:event'),
  }),
  json: z.strictObject({
    url: httpUrl,
    template: z
      .string()
      .max(16_384)
      .optional()
      .describe(
        'JSON whose strings may hold `{{field}}`: event, id, created_at, project_id, title, severity, link, or data.<name>. A string that is only a field becomes its value. Absent: the event itself.',
      ),
    batch: z
      .enum(['none', 'array', 'bulk'])
      .optional()
      .describe(
        '`array`: events that are due together are one JSON array. `bulk`: they are lines of the bulk API of Elasticsearch. Absent: `none`.',
      ),
  }),
  ocsf: z.strictObject({
    url: httpUrl,
    batch: z
      .enum(['none', 'array'])
      .optional()
      .describe('`array`: events that are due together are one JSON array. Absent: `none`.'),
  }),
  syslog: z.strictObject({
    host: hostName,
    port: port.default(6_514),
    tls: z
      .boolean()
      .default(true)
      .describe('false only where DESTINATION_ALLOW lists the address as `plain:host:port`.'),
    format: z.enum(['text', 'ocsf']).default('text').describe('What the message is: a line, or OCSF JSON.'),
    facility: z.number().int().min(0).max(23).default(13).describe('RFC 5424; 13: log audit.'),
    app_name: z
      .string()
      .regex(/^[\x21-\x7e]{1,48}$/, 'must be up to 48 visible ASCII characters')
      .default('sluice'),
  }),
} as const satisfies Record<DestinationKind, z.ZodObject>

/** What nobody sees again. */
const credentialsSchemas = {
  webhook: z.strictObject({}),
  slack: z.strictObject({ url: httpUrl.describe('The incoming webhook, which is a secret.') }),
  teams: z.strictObject({ url: httpUrl.describe("The workflow's address, which is a secret.") }),
  pagerduty: z.strictObject({
    routing_key: z.string().regex(/^[A-Za-z0-9]{32}$/, 'must be 32 letters and digits'),
  }),
  jira: z.strictObject({ token: headerText }),
  email: z.strictObject({ password: z.string().min(1).max(1_024).optional() }),
  splunk_hec: z.strictObject({ token: headerText }),
  json: z.strictObject({ header: header.optional() }),
  ocsf: z.strictObject({ header: header.optional() }),
  syslog: z.strictObject({}),
} as const satisfies Record<DestinationKind, z.ZodObject>

export type Settings<K extends DestinationKind> = z.output<(typeof settingsSchemas)[K]>
export type Credentials<K extends DestinationKind> = z.output<(typeof credentialsSchemas)[K]>

/** A destination other than a webhook, as it is stored. */
export type Destination = {
  [K in Exclude<DestinationKind, 'webhook'>]: {
    kind: K
    settings: Settings<K>
    credentials: Credentials<K>
  }
}[Exclude<DestinationKind, 'webhook'>]

export function settingsSchemaOf(kind: DestinationKind): z.ZodObject {
  return settingsSchemas[kind]
}

export function credentialsSchemaOf(kind: DestinationKind): z.ZodObject {
  return credentialsSchemas[kind]
}

/** Kinds that show text to people: quoted text is off by default, and they get findings, not every score. */
export const kindsForPeople: ReadonlySet<DestinationKind> = new Set([
  'slack',
  'teams',
  'pagerduty',
  'jira',
  'email',
])

/** Fields of settings or credentials that say where a destination is. */
export interface Address {
  url: string
  host: string
  port: number
  tls: boolean | string
}

/** The address as it is shown and logged: without the path of Slack and Teams, which is their secret. */
export function shownAddress(kind: DestinationKind, settings: object, credentials: object): string {
  const { host, port, url }: Partial<Address> = { ...settings, ...credentials }
  if (host !== undefined) return `${kind === 'email' ? 'smtp' : 'syslog'}://${host}:${port}`
  if (url === undefined || !URL.canParse(url)) return ''
  return kind === 'slack' || kind === 'teams' ? `${new URL(url).origin}/…` : url
}

/** Events of a new destination whose owner names none. */
export function defaultEvents(kind: DestinationKind): EventName[] {
  if (!kindsForPeople.has(kind)) return [...selectableEvents]
  const followed: readonly DestinationKind[] = ['pagerduty', 'jira']
  return selectableEvents.filter(
    (event) =>
      event.startsWith('alert_') ||
      (event.startsWith('finding_') && (event !== 'finding_acknowledged' || followed.includes(kind))),
  )
}

/** Events a minute of a new destination for people; a system has no limit. */
export const defaultPerMinute = 30

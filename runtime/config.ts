import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { logLevels } from './log.ts'
import { brokerAddress, pathsBehind, rolePrefix, withCredentials } from './config-addresses.ts'
import { readableTlsFiles } from './config-paths.ts'
import { flag } from './config-values.ts'
import { databasePartFields, withDatabaseUrl } from './database-parts.ts'
import { parseKeys } from './encryption-keys.ts'
import { messageOf } from './errors.ts'
import { parseAllowedAddresses } from './destination-allow.ts'
import { findConflicts } from './find-conflicts.ts'
import { kafkaLoginFields } from './kafka-login-fields.ts'
import { hostOf } from './outbound-address.ts'
import { areCertificates, isPrivateKey } from './read-certificates.ts'
import { filesOf, withSourceFiles } from './source-files.ts'

export { flag }

/**
 * Fragments of configuration that services spread into their own `z.object({...})`. A key is the environment
 * variable's name. `NAME_FILE` names a file that holds the value; setting both is refused.
 * docs/configuration.md is generated from the descriptions.
 */
export const processFields = {
  LOG_LEVEL: z.enum(logLevels).default('info').describe('Lowest level that is logged.'),
  OPS_HOST: z
    .string()
    .default('127.0.0.1')
    .describe(
      'Address of /healthz, /readyz and /metrics; `::` is every IPv6 and IPv4 address. They need no key, so the default is loopback.',
    ),
  DRAIN_DEADLINE_MS: milliseconds(25_000, 600_000).describe(
    'How long a stopping process may take to finish its work.',
  ),
}

/** For processes behind load balancers and proxies. */
export const servingFields = {
  DRAIN_LEAD_MS: wholeNumber(3_000, { min: 0, max: 60_000 }).describe(
    'How long a stopping process still accepts connections, until load balancers see that it is not ready; part of DRAIN_DEADLINE_MS.',
  ),
}

export const kafkaFields = {
  KAFKA_BROKERS: listOf(brokerAddress()).describe(
    'Brokers to start from, host:port or [IPv6 address]:port, comma-separated.',
  ),
  KAFKA_SSL: flag().describe('Whether to connect to brokers over TLS.'),
  KAFKA_SSL_CA: certificates().optional().describe('Certificate authority of the brokers, PEM.'),
  KAFKA_SSL_CERT: certificates().optional().describe('Client certificate, PEM.'),
  KAFKA_SSL_KEY: privateKey().optional().describe("Client certificate's key, PEM."),
  ...kafkaLoginFields,
  KAFKA_MAX_RECORD_BYTES: z.coerce
    .number()
    .int()
    // A batch of small records has up to 900 kB (kafka/gather-batch.ts).
    .min(1_000_000)
    .max(1024 ** 3)
    .optional()
    .describe(
      'Largest record that the brokers or their provider accept, such as 8388608; the same for every process. It bounds topics, BODY_MAX_BYTES and CAPTURE_MAX_BYTES. Unset: 17 MiB.',
    ),
  TOPIC_PREFIX: z
    .string()
    .regex(/^[a-zA-Z0-9._-]*$/, 'expected letters, digits, ., _ and - only')
    .max(200, 'expected at most 200 characters: a topic name has at most 249 in Kafka')
    .default('')
    .describe('Prefix of every topic, consumer group and subject, for shared clusters.'),
}

/** For processes that join consumer groups. */
export const groupFields = {
  KAFKA_SESSION_TIMEOUT_MS: milliseconds(10_000, 300_000).describe(
    'How long a dead member of a consumer group keeps its partitions. Brokers accept 6 s or more by default.',
  ),
}

export const registryFields = {
  SCHEMA_REGISTRY_URL: withCredentials(pathsBehind()).describe(
    'Confluent-compatible address of the schema registry; with credentials `https://user:password@host`, percent-encoded.',
  ),
}

export const postgresFields = {
  ...databasePartFields,
  DATABASE_URL: withCredentials(
    z.url({ protocol: /^postgres(ql)?$/, error: 'expected postgres://user:password@host:port/database' }),
    { takesBarePercent: true },
  )
    .superRefine(readableTlsFiles)
    .describe(
      'Postgres, postgres://user:password@host:port/database. The API takes the roles sluice_api and sluice_operator from this login.',
    ),
  DATABASE_SSL_CA: certificates()
    .optional()
    .describe(
      'Certificate authority of Postgres, PEM. Set: connections use verified TLS, and DATABASE_URL must not have TLS parameters (sslmode, ssl, sslrootcert, sslcert, sslkey), which would take precedence.',
    ),
  DATABASE_POOL_SIZE: wholeNumber(10, { max: 200 }).describe('Maximum number of connections.'),
  DATABASE_ROLE_PREFIX: rolePrefix(),
}

export const sealingFields = {
  BODY_ENCRYPTION_KEYS: z
    .string()
    .default('')
    .transform((text, context) => parseKeys(text, (message) => context.addIssue({ code: 'custom', message })))
    .describe(
      '`id:base64 of 32 bytes`, comma-separated; the first encrypts, all decrypt. An id has at most 40 characters and is stored in the clear beside what its key sealed. Empty: bodies are not encrypted.',
    ),
}

/** Shared by those that seal calls and by the API, which searches them. */
export const searchFields = {
  SEARCH_KEY: z
    .string()
    .default('')
    .transform((text, context) => parseKeys(text, (message) => context.addIssue({ code: 'custom', message })))
    .describe(
      '`id:base64 of 32 bytes`, comma-separated: the first makes the search signatures of new calls, all are searched by. Placeholders of projects that mask are made under it too. Not a key of BODY_ENCRYPTION_KEYS. Empty: no signatures; a search then opens every call of its range, and no project can begin to mask.',
    ),
}

/** The usual ports of receivers. */
export const defaultWebhookPorts: readonly number[] = [443, 8443]

/** Shared by API and notifier: an address that can be saved can be reached. */
export const receiverFields = {
  WEBHOOK_ALLOW_INSECURE: hosts().describe(
    'Hosts (no ports) that webhooks may reach over plain HTTP, at private addresses and on any port, comma-separated.',
  ),
  WEBHOOK_PORTS: listOf(z.coerce.number<string>().int().min(1).max(65_535))
    .default([...defaultWebhookPorts])
    .transform((ports) => new Set(ports))
    .describe('Ports that webhooks may reach on other hosts, comma-separated.'),
  WEBHOOK_PROXY_RESOLVES: flag().describe(
    'With UPSTREAM_PROXY_URL: whether only the egress proxy can resolve names of receivers. Their addresses are then not checked: the policy of the proxy takes the place of ours. The same for the API and the notifier.',
  ),
  DESTINATION_ALLOW: listOf(z.string())
    .default([])
    .transform((entries, context) => {
      try {
        return parseAllowedAddresses(entries)
      } catch (error) {
        context.addIssue({ code: 'custom', message: messageOf(error) })
        return z.NEVER
      }
    })
    .describe(
      'Private addresses, mail and syslog servers that destinations may reach: `host:port`, or `plain:host:port` without TLS, comma-separated.',
    ),
}

/** Shared by the API, which accepts attacks, and the red team, which runs them. */
export const attackFields = {
  REDTEAM_ALLOWED_HOSTS: hosts().describe(
    'Hosts (no ports) that the red team may attack, comma-separated. Loopback is always allowed.',
  ),
}

/** Shared by the red team, which marks its attacks, and the gateway, which recognises them. */
export const attackMarkFields = {
  REDTEAM_MARK_SECRET: z
    .string()
    .min(16)
    .optional()
    .describe(
      'The same for red team and gateways: gateways recognise marked attacks, which only the red team records. Unset: INTERNAL_API_SECRET.',
    ),
}

export type KafkaConfig = z.output<z.ZodObject<typeof kafkaFields>>
export type GroupConfig = z.output<z.ZodObject<typeof groupFields>>
export type PostgresConfig = z.output<z.ZodObject<typeof postgresFields>>
export type Environment = Readonly<Record<string, string | undefined>>

/** Comma-separated values, at least one. */
export function listOf<T extends z.ZodType<unknown, string>>(item: T) {
  return z
    .string()
    .transform((text) =>
      text
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== ''),
    )
    .pipe(z.array(item).min(1, 'expected at least one value'))
}

/** A scheme, path or port is refused: no host would ever match it. */
function hosts() {
  return listOf(z.string().refine((text) => !/[/@]|^[^:[]+:\d+$|\]:/.test(text), 'expected hosts alone'))
    .default([])
    .transform((list) => new Set(list.map(hostOf)))
}

/** A whole number with default and bounds. */
export function wholeNumber(defaultValue: number, { min = 1, max }: { min?: number; max: number }) {
  return z.coerce.number().int().min(min).max(max).default(defaultValue)
}

/** A duration with default and upper bound. */
export function milliseconds(defaultMs: number, maxMs: number) {
  return wholeNumber(defaultMs, { max: maxMs })
}

/** A port to listen on; 0 takes a free one. */
export function port(defaultPort: number) {
  return wholeNumber(defaultPort, { min: 0, max: 65_535 })
}

/**
 * INTERNAL_API_SECRET. Restricted to what a bearer token can carry (RFC 6750): no spaces; clients encode
 * other letters in different ways.
 */
export function internalSecret() {
  return z
    .string()
    .min(16, 'must have at least 16 characters')
    .regex(/^[!-~]*$/, 'must be ASCII without spaces: it is sent as a bearer token')
}

/** As PEM text. */
export function certificates() {
  return pem(areCertificates, 'expected whole certificates, line by line: one cannot be read')
}

/** As PEM text. Encrypted keys are refused. */
function privateKey() {
  return pem(isPrivateKey, 'expected a whole private key, line by line and without a passphrase')
}

function pem(isWhole: (text: string) => boolean, whole: string) {
  return z.string().superRefine((text, context) => {
    const isPem = /-----BEGIN [A-Z0-9 ]+-----/.test(text)
    if (isPem && isWhole(text)) return
    const message = isPem ? whole : 'expected PEM (-----BEGIN …); the path of a file goes into NAME_FILE'
    context.addIssue({ code: 'custom', message })
  })
}

/**
 * For a check across variables: runs unless one of those named is invalid, so that all problems are reported
 * at once.
 */
export function unlessWrong(...names: string[]) {
  return ({ issues }: z.core.ParsePayload) => !issues.some(({ path }) => names.includes(String(path?.[0])))
}

/** The port of a process's operations server (design §13 lists the defaults). */
export function operationsPort(defaultPort: number) {
  return port(defaultPort).describe('Port of /healthz, /readyz and /metrics.')
}

export type ParsedConfig<T> = { ok: true; value: T } | { ok: false; problems: readonly string[] }

/**
 * Reads a service's configuration. On failure reports every problem with its variable's name, never its
 * value.
 */
export function parseConfig<S extends z.ZodObject>(
  schema: S,
  environment: Environment,
): ParsedConfig<z.output<S>> {
  const problems: string[] = []
  const given: Record<string, string> = {}
  for (const name of Object.keys(schema.shape)) {
    const value = readVariable(name, environment, problems)
    // Compose files and charts write "unset" as an empty value; a blank one would be read as the number 0.
    if (value !== undefined && value.trim() !== '') given[name] = value
  }
  const complete = 'DATABASE_HOST' in schema.shape ? withDatabaseUrl(given, problems) : given
  problems.push(...findConflicts(complete))
  const parsed = schema.safeParse(complete)
  if (!parsed.success) problems.push(...parsed.error.issues.map((issue) => describeIssue(issue, complete)))
  if (!parsed.success || problems.length > 0) return { ok: false, problems }
  return { ok: true, value: withSourceFiles(parsed.data, filesOf(Object.keys(given), environment)) }
}

function readVariable(name: string, environment: Environment, problems: string[]): string | undefined {
  const file = environment[`${name}_FILE`]
  const value = environment[name]
  if (file !== undefined && file.trim() !== '' && value !== undefined && value.trim() !== '')
    problems.push(`${name}: is set, and so is ${name}_FILE: take one away`)
  // `echo secret | base64` puts a line break into a Secret, which no header or peer accepts.
  if (file === undefined || file.trim() === '') return value?.replace(/[\r\n]+$/, '')
  try {
    return readFileSync(file, 'utf8').trimEnd()
  } catch (error) {
    problems.push(`${name}_FILE: cannot be read (${messageOf(error)})`)
    return undefined
  }
}

const typeWords: Readonly<Record<string, string>> = {
  number: 'expected a number, without a unit',
  int: 'expected a whole number',
}

function describeIssue(issue: z.core.$ZodIssue, given: Record<string, string>): string {
  const name = issue.path[0]
  if (typeof name !== 'string') return issue.message
  return given[name] === undefined && issue.code === 'invalid_type'
    ? `${name}: is not set`
    : `${name}: ${issue.code === 'invalid_type' ? (typeWords[issue.expected] ?? issue.message) : issue.message}`
}

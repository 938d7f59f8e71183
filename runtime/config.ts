import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { logLevels } from './log.ts'
import { messageOf } from './errors.ts'
import { findConflicts } from './find-conflicts.ts'
import { hostOf } from './outbound-address.ts'

/**
 * Fragments of configuration that services spread into their own `z.object({...})`. A key is the environment variable's name;
 * `NAME_FILE` names a file that holds the value instead; both are refused. docs/configuration.md is made from the descriptions.
 */
export const processFields = {
  LOG_LEVEL: z.enum(logLevels).default('info').describe('Least severe log line that is written.'),
  OPS_HOST: z
    .string()
    .default('127.0.0.1')
    .describe('Address of /healthz, /readyz and /metrics. They need no key, so loopback unless set.'),
  DRAIN_DEADLINE_MS: milliseconds(25_000, 600_000).describe(
    'How long a stopping process may finish what it has begun.',
  ),
}

/** For those that load balancers and proxies stand before. */
export const servingFields = {
  DRAIN_LEAD_MS: z.coerce
    .number()
    .int()
    .min(0)
    .max(60_000)
    .default(3_000)
    .describe(
      'How long a stopping process still accepts connections, for load balancers to see that it is not ready; part of DRAIN_DEADLINE_MS.',
    ),
}

export const kafkaFields = {
  KAFKA_BROKERS: listOf(brokerAddress()).describe('Brokers to start from, host:port, comma-separated.'),
  KAFKA_SSL: flag().describe('Whether brokers are reached over TLS.'),
  KAFKA_SSL_CA: pem().optional().describe('Certificate authority of the brokers, PEM.'),
  KAFKA_SSL_CERT: pem().optional().describe('Client certificate, PEM.'),
  KAFKA_SSL_KEY: pem().optional().describe("Client certificate's key, PEM."),
  KAFKA_SASL_MECHANISM: z
    .enum(['plain', 'scram-sha-256', 'scram-sha-512'])
    .optional()
    .describe('SASL mechanism; unset: none.'),
  KAFKA_SASL_USERNAME: z.string().optional().describe('SASL user.'),
  KAFKA_SASL_PASSWORD: z.string().optional().describe('SASL password.'),
  TOPIC_PREFIX: z
    .string()
    .regex(/^[a-zA-Z0-9._-]*$/, 'expected letters, digits, ., _ and - only')
    .max(200, 'expected at most 200 characters: Kafka takes no topic whose name has more than 249')
    .default('')
    .describe('Goes before every topic, consumer group and subject, for clusters that are shared.'),
}

/** For processes that are members of consumer groups. */
export const groupFields = {
  KAFKA_SESSION_TIMEOUT_MS: milliseconds(10_000, 300_000).describe(
    'How long a member of a consumer group that died keeps its partitions. Brokers take 6 s and more unless told otherwise.',
  ),
}

export const registryFields = {
  SCHEMA_REGISTRY_URL: withCredentials(pathsBehind()).describe(
    'Schema registry, its Confluent-compatible address; `https://user:password@host` where it asks for credentials, percent-encoded.',
  ),
}

export const postgresFields = {
  DATABASE_URL: withCredentials(
    z.url({ protocol: /^postgres(ql)?$/, error: 'expected postgres://user:password@host:port/database' }),
    true,
  ).describe(
    'Postgres, postgres://user:password@host:port/database. The API takes the roles sluice_api and sluice_operator from this login.',
  ),
  DATABASE_SSL_CA: pem()
    .optional()
    .describe(
      'Certificate authority of Postgres, PEM. Set: TLS is used and verified; DATABASE_URL must then say nothing of TLS itself (sslmode, ssl, sslrootcert, sslcert, sslkey), because that would be what counts.',
    ),
  DATABASE_POOL_SIZE: z.coerce.number().int().min(1).max(200).default(10).describe('Connections at most.'),
}

export const sealingFields = {
  BODY_ENCRYPTION_KEYS: z
    .string()
    .default('')
    .transform((text, context) => parseKeys(text, (message) => context.addIssue({ code: 'custom', message })))
    .describe(
      '`id:base64 of 32 bytes`, comma-separated; the first encrypts, all decrypt. An id is a name of at most 40 characters: it stands in the open beside what its key sealed. Empty: bodies are not encrypted.',
    ),
}

/** For whoever saves addresses of receivers and whoever sends to them: what may be saved is what may be reached. */
export const receiverFields = {
  WEBHOOK_ALLOW_INSECURE: hosts().describe(
    'Hosts (no ports) that webhooks may reach over plain HTTP, at private addresses and on any port, comma-separated.',
  ),
  WEBHOOK_PORTS: listOf(z.coerce.number<string>().int().min(1).max(65_535))
    .default([443, 8443])
    .transform((ports) => new Set(ports))
    .describe('Ports that webhooks may reach on other hosts, comma-separated.'),
}

/** For whoever orders attacks and whoever makes them. */
export const attackFields = {
  REDTEAM_ALLOWED_HOSTS: hosts().describe(
    'Hosts (no ports) that the red team may attack, comma-separated. Loopback always is one.',
  ),
}

/** For whoever marks what it attacks with, and whoever knows it by that. */
export const attackMarkFields = {
  REDTEAM_MARK_SECRET: z
    .string()
    .min(16)
    .optional()
    .describe(
      'The same for red team and gateways: attacks that pass through a gateway are known by a mark and recorded by the red team alone. Unset: INTERNAL_API_SECRET, if it has 16 characters.',
    ),
}

export type KafkaConfig = z.output<z.ZodObject<typeof kafkaFields>>
export type GroupConfig = z.output<z.ZodObject<typeof groupFields>>
export type PostgresConfig = z.output<z.ZodObject<typeof postgresFields>>
export type Environment = Readonly<Record<string, string | undefined>>

export interface EncryptionKey {
  id: string
  key: Buffer
}

/** A list of comma-separated values, at least one. */
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

/** `host:8081` alone is a URL too: its scheme is `host`. */
export function httpUrl() {
  return z.url({ protocol: /^https?$/, error: 'expected http:// or https://, and a host' })
}

function pathsBehind() {
  return httpUrl().refine(
    (url) => !/[?#]/.test(url),
    'must not hold a query or a fragment: paths are put behind it',
  )
}

/** An address that paths are put behind, without a slash at its end. A password in it would be sent by none who asks there. */
export function baseUrl(credentials = 'must not hold a user name or a password') {
  return pathsBehind()
    .refine((url) => !/^[a-z]+:\/\/[^/?#]*@/i.test(url), credentials)
    .transform((url) => url.replace(/\/+$/, ''))
}

function brokerAddress() {
  return z.string().refine((text) => {
    const port = Number(/^[^\s:]+:(\d+)$/.exec(text)?.[1])
    return port >= 1 && port <= 65_535
  }, 'expected host:port')
}

/** With a scheme, a path or a port no host would ever be equal to it. */
function hosts() {
  return listOf(z.string().refine((text) => !/[/@]|^[^:[]+:\d+$|\]:/.test(text), 'expected hosts alone'))
    .default([])
    .transform((list) => new Set(list.map(hostOf)))
}

/**
 * What reads a password as percent-encoded throws where it is not, at its first use and without a word of where it stands. pg alone takes a % with no
 * two digits behind it for itself.
 */
function withCredentials(url: z.ZodURL, takesBarePercent = false) {
  return url.refine((text) => {
    if (!URL.canParse(text)) return true
    const { username, password } = new URL(text)
    const written = `${username}:${password}`
    return isDecodable(takesBarePercent ? written.replace(/%(?![0-9a-f]{2})/gi, '%25') : written)
  }, 'a % in the user name or the password is written %25')
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch (error) {
    if (error instanceof URIError) return false
    throw error
  }
}

/** `true` or `false`; false when unset. */
export function flag(defaultValue = false) {
  return z
    .enum(['true', 'false'])
    .default(defaultValue ? 'true' : 'false')
    .transform((text) => text === 'true')
}

/** A duration with its default and upper bound. */
export function milliseconds(defaultMs: number, maxMs: number) {
  return z.coerce.number().int().min(1).max(maxMs).default(defaultMs)
}

/** Certificates or a key, as text. */
export function pem() {
  const expected = 'expected PEM (-----BEGIN …); the path of a file goes into NAME_FILE'
  return z.string().regex(/-----BEGIN [A-Z0-9 ]+-----/, expected)
}

/** Of a check across variables: it is made unless one that it reads is wrong itself, and so together with all others. */
export function unlessWrong(...names: string[]) {
  return ({ issues }: z.core.ParsePayload) => !issues.some(({ path }) => names.includes(String(path?.[0])))
}

/** The port of a process's operations server (design §13 lists the defaults). */
export function operationsPort(defaultPort: number) {
  return z.coerce
    .number()
    .int()
    .min(0)
    .max(65_535)
    .default(defaultPort)
    .describe('Port of /healthz, /readyz and /metrics.')
}

export type ParsedConfig<T> = { ok: true; value: T } | { ok: false; problems: readonly string[] }

/** Reads a service's configuration; on failure every problem, each with the variable's name and never with its value. */
export function parseConfig<S extends z.ZodObject>(
  schema: S,
  environment: Environment,
): ParsedConfig<z.output<S>> {
  const problems: string[] = []
  const given: Record<string, string> = {}
  for (const name of Object.keys(schema.shape)) {
    const value = readVariable(name, environment, problems)
    // An empty variable is how compose files and charts write "unset"; a blank one would be 0 where a number is read.
    if (value !== undefined && value.trim() !== '') given[name] = value
  }
  problems.push(...findConflicts(given))
  const parsed = schema.safeParse(given)
  if (!parsed.success) problems.push(...parsed.error.issues.map((issue) => describeIssue(issue, given)))
  return parsed.success && problems.length === 0 ? { ok: true, value: parsed.data } : { ok: false, problems }
}

function readVariable(name: string, environment: Environment, problems: string[]): string | undefined {
  const file = environment[`${name}_FILE`]
  const value = environment[name]
  if (file !== undefined && file.trim() !== '' && value !== undefined && value.trim() !== '')
    problems.push(`${name}: is set, and so is ${name}_FILE: take one away`)
  // `echo secret | base64` puts a line's end into a Secret: no header and no peer would take it as part of the value.
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

/** 32 bytes are 43 characters of base64: an id has fewer. */
const keyPattern = /^([^:]{1,40}?)\s*:(.*)$/

// The id stands in the open beside all that it sealed: nothing may be taken for one that could be the key itself.
function parseKeys(text: string, problem: (message: string) => void): EncryptionKey[] {
  const keys = text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => {
      const [, id = '', base64 = ''] = keyPattern.exec(part) ?? []
      return { id, key: Buffer.from(base64.trim(), 'base64') }
    })
  if (keys.some(({ id, key }) => id === '' || key.length !== 32)) {
    problem('expected id:base64 of exactly 32 bytes, comma-separated; an id has at most 40 characters')
  }
  if (new Set(keys.map(({ id }) => id)).size !== keys.length) problem('a key id stands twice')
  return keys
}

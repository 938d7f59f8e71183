import { areCertificates, isKeyOf, isPrivateKey } from './read-certificates.ts'

type Given = Readonly<Record<string, string>>

/** In each pair the first takes effect only with the second. */
const needs = [
  ['KAFKA_SASL_USERNAME', 'KAFKA_SASL_MECHANISM'],
  ['KAFKA_SASL_PASSWORD', 'KAFKA_SASL_MECHANISM'],
  ['KAFKA_OAUTH_TOKEN_URL', 'KAFKA_SASL_MECHANISM'],
  ['KAFKA_SSL_CERT', 'KAFKA_SSL_KEY'],
  ['KAFKA_SSL_KEY', 'KAFKA_SSL_CERT'],
] as const

const ofPassword = ['KAFKA_SASL_USERNAME', 'KAFKA_SASL_PASSWORD']
const ofTokens = ['KAFKA_OAUTH_TOKEN_URL', 'KAFKA_OAUTH_CLIENT_ID', 'KAFKA_OAUTH_CLIENT_SECRET']

/** What the mechanism needs, and what it has no use for. */
function loginConflicts(given: Given): string[] {
  const { KAFKA_SASL_MECHANISM: mechanism } = given
  if (mechanism === undefined) return []
  const isToken = mechanism === 'oauthbearer'
  const missing = (isToken ? ofTokens : ofPassword).filter((name) => given[name] === undefined)
  const useless = (isToken ? ofPassword : ofTokens).filter((name) => given[name] !== undefined)
  return [
    ...missing.map(
      (name) => `${name}: is not set, and KAFKA_SASL_MECHANISM is${isToken ? ' oauthbearer' : ''}`,
    ),
    ...useless.map((name) => `${name}: is set, and KAFKA_SASL_MECHANISM is ${mechanism}`),
  ]
}

const ofTls = ['KAFKA_SSL_CA', 'KAFKA_SSL_CERT', 'KAFKA_SSL_KEY']

/**
 * Problems between variables that are valid alone. They would leave connections unencrypted against
 * expectation.
 */
export function findConflicts(given: Given): string[] {
  const missing = new Map<string, string>()
  for (const [name, needed] of needs) {
    if (given[name] !== undefined && given[needed] === undefined) missing.set(needed, name)
  }
  const useless = given['KAFKA_SSL'] === 'true' ? [] : ofTls.filter((name) => given[name] !== undefined)
  return [
    ...[...missing].map(([needed, name]) => `${needed}: is not set, and ${name} is`),
    ...loginConflicts(given),
    ...useless.map((name) => `${name}: is set, and KAFKA_SSL is not true`),
    ...keyOfAnother(given),
    ...overriddenAuthority(given),
  ]
}

/** Whether key and certificate belong together. Skipped when either is invalid, which is reported itself. */
function keyOfAnother({ KAFKA_SSL_CERT: certificate = '', KAFKA_SSL_KEY: key = '' }: Given): string[] {
  const isPair = !areCertificates(certificate) || !isPrivateKey(key) || isKeyOf(key, certificate)
  return isPair ? [] : ['KAFKA_SSL_KEY: is not the key of KAFKA_SSL_CERT']
}

const tlsParameters = new Set(['ssl', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey'])

/**
 * pg follows the TLS options of a URL and drops the authority: `sslmode=disable` encrypts nothing,
 * `no-verify` verifies nothing.
 */
function overriddenAuthority({ DATABASE_URL: url, DATABASE_SSL_CA: authority }: Given): string[] {
  if (url === undefined || authority === undefined || !URL.canParse(url)) return []
  const said = [...new URL(url).searchParams.keys()].filter((name) => tlsParameters.has(name))
  return said.length === 0
    ? []
    : [
        `DATABASE_SSL_CA: is set, and DATABASE_URL has ${said.join(', ')}, which would override it: take one away`,
      ]
}

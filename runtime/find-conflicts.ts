import { areCertificates, isKeyOf, isPrivateKey } from './read-certificates.ts'

type Given = Readonly<Record<string, string>>

/** Of each pair the first counts only with the second. */
const needs = [
  ['KAFKA_SASL_MECHANISM', 'KAFKA_SASL_USERNAME'],
  ['KAFKA_SASL_MECHANISM', 'KAFKA_SASL_PASSWORD'],
  ['KAFKA_SASL_USERNAME', 'KAFKA_SASL_MECHANISM'],
  ['KAFKA_SASL_PASSWORD', 'KAFKA_SASL_MECHANISM'],
  ['KAFKA_SSL_CERT', 'KAFKA_SSL_KEY'],
  ['KAFKA_SSL_KEY', 'KAFKA_SSL_CERT'],
] as const

const ofTls = ['KAFKA_SSL_CA', 'KAFKA_SSL_CERT', 'KAFKA_SSL_KEY']

/** What is wrong with variables that may each be right: without these, brokers would be reached in the open by whoever thinks they are not. */
export function findConflicts(given: Given): string[] {
  const missing = new Map<string, string>()
  for (const [name, needed] of needs) {
    if (given[name] !== undefined && given[needed] === undefined) missing.set(needed, name)
  }
  const useless = given['KAFKA_SSL'] === 'true' ? [] : ofTls.filter((name) => given[name] !== undefined)
  return [
    ...[...missing].map(([needed, name]) => `${needed}: is not set, and ${name} is`),
    ...useless.map((name) => `${name}: is set, and KAFKA_SSL is not true`),
    ...keyOfAnother(given),
    ...overriddenAuthority(given),
  ]
}

/** Unless one of them is wrong itself, and that is said of it. */
function keyOfAnother({ KAFKA_SSL_CERT: certificate = '', KAFKA_SSL_KEY: key = '' }: Given): string[] {
  const isPair = !areCertificates(certificate) || !isPrivateKey(key) || isKeyOf(key, certificate)
  return isPair ? [] : ['KAFKA_SSL_KEY: is not the key of KAFKA_SSL_CERT']
}

const tlsParameters = new Set(['ssl', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey'])

/** pg takes what a URL says of TLS and drops the authority: with `sslmode=disable` nothing would be encrypted, with `no-verify` nothing verified. */
function overriddenAuthority({ DATABASE_URL: url, DATABASE_SSL_CA: authority }: Given): string[] {
  if (url === undefined || authority === undefined || !URL.canParse(url)) return []
  const said = [...new URL(url).searchParams.keys()].filter((name) => tlsParameters.has(name))
  return said.length === 0
    ? []
    : [
        `DATABASE_SSL_CA: is set, and DATABASE_URL has ${said.join(', ')}, which would override it: take one away`,
      ]
}

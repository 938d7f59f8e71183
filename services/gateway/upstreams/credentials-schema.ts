import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { httpUrl } from '#runtime/config-addresses.ts'
import { messageOf } from '#runtime/errors.ts'
import { isHeaderValue } from '#runtime/http1/request-head.ts'
import { findRole } from './aws/find-role.ts'
import type { RoleSource } from './aws/fetch-keys.ts'
import type { SigningKeys, SigningScope } from './aws/sign-request.ts'
import { metadataHost } from './google/metadata-tokens.ts'
import { cloudScope, readServiceAccount, type ServiceAccount } from './google/service-account.ts'
import type { ClientCredentials } from './request-token.ts'

/** A secret is named, not written: an environment variable, or a file such as a mounted secret. */
const secret = z.union([
  z.strictObject({ env: z.string().min(1) }),
  z.strictObject({ file: z.string().min(1) }),
])

/** The identity that the platform gives this process, found as the provider's own clients find it. */
const workload = z.literal('workload')
const scope = z.string().min(1).optional()

const google = z.union([
  z.strictObject({ service_account: secret, scope }),
  z.strictObject({ identity: workload, scope }),
])

const awsScope = {
  region: z.string().regex(/^[a-z0-9-]+$/, 'expected a region such as eu-west-1'),
  service: z
    .string()
    .regex(/^[a-z0-9-]+$/)
    .default('bedrock'),
}
const aws = z.union([
  z.strictObject({
    ...awsScope,
    access_key_id: secret,
    secret_access_key: secret,
    session_token: secret.optional(),
  }),
  z.strictObject({ ...awsScope, identity: workload }),
])

export const credentialsSchema = z.union([
  z.strictObject({
    key: secret,
    /** Header that carries the key; a bearer token without one. */
    header: z
      .string()
      .regex(/^[A-Za-z0-9-]+$/, 'expected the name of a header')
      .optional(),
  }),
  z.strictObject({
    token_url: httpUrl(),
    client_id: z.string().min(1),
    client_secret: secret,
    scope,
  }),
  z.strictObject({ google }),
  z.strictObject({ aws }),
])

export type UpstreamSecret =
  | { kind: 'key'; key: string; header: string | undefined }
  | ({ kind: 'client' } & ClientCredentials)
  | { kind: 'service_account'; account: ServiceAccount; scope: string }
  | { kind: 'google_workload'; host: string; scope: string }
  | ({ kind: 'aws'; keys: SigningKeys } & SigningScope)
  | ({ kind: 'aws_role'; source: RoleSource } & SigningScope)

type Fail = (what: string) => Error

/** The credentials with their secrets. Throws what `fail` makes of a fault. */
export function readCredentials(
  given: z.output<typeof credentialsSchema>,
  environment: NodeJS.ProcessEnv,
  fail: Fail,
): UpstreamSecret {
  const readHeader = (from: z.output<typeof secret>): string => {
    const { value, where } = contentOf(from, environment, fail)
    if (isHeaderValue(value)) return value
    throw fail(`expected in ${where} a secret that a header may hold, found another`)
  }
  if ('key' in given) return { kind: 'key', key: readHeader(given.key), header: given.header }
  if ('google' in given) return readGoogle(given.google, environment, fail)
  if ('aws' in given) return readAws(given.aws, environment, readHeader, fail)
  const { token_url: url, client_id: clientId, client_secret: clientSecret } = given
  return { kind: 'client', url, clientId, clientSecret: readHeader(clientSecret), scope: given.scope }
}

function readGoogle(
  given: z.output<typeof google>,
  environment: NodeJS.ProcessEnv,
  fail: Fail,
): UpstreamSecret {
  const wanted = given.scope ?? cloudScope
  if ('identity' in given) {
    const host = environment['GCE_METADATA_HOST'] ?? ''
    return { kind: 'google_workload', host: host === '' ? metadataHost : host, scope: wanted }
  }
  const { value, where } = contentOf(given.service_account, environment, fail)
  try {
    return { kind: 'service_account', account: readServiceAccount(value), scope: wanted }
  } catch (error) {
    throw fail(`${where} ${messageOf(error)}`)
  }
}

function readAws(
  given: z.output<typeof aws>,
  environment: NodeJS.ProcessEnv,
  read: (from: z.output<typeof secret>) => string,
  fail: Fail,
): UpstreamSecret {
  const { region, service } = given
  if ('identity' in given) {
    const source = findRole(environment, region)
    if (typeof source === 'string') throw fail(source)
    return { kind: 'aws_role', region, service, source }
  }
  const { session_token: token } = given
  const keys = {
    accessKeyId: read(given.access_key_id),
    secretAccessKey: read(given.secret_access_key),
    sessionToken: token === undefined ? undefined : read(token),
  }
  return { kind: 'aws', region, service, keys }
}

function contentOf(
  from: z.output<typeof secret>,
  environment: NodeJS.ProcessEnv,
  fail: Fail,
): { value: string; where: string } {
  const where = 'env' in from ? from.env : from.file
  const value = 'env' in from ? environment[from.env] : fileContent(from.file, fail)
  if (value === undefined || value === '') throw fail(`expected in ${where} a secret, found nothing`)
  return { value, where }
}

function fileContent(file: string, fail: Fail): string {
  try {
    return readFileSync(file, 'utf8').trimEnd()
  } catch (error) {
    throw fail(messageOf(error))
  }
}

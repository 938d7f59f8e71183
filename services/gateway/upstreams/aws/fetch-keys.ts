import { readFile } from 'node:fs/promises'
import { request, type Dispatcher } from 'undici'
import { z } from 'zod'
import type { Fetched } from '../renewed.ts'
import type { SigningKeys } from './sign-request.ts'

/** Where the keys of a role come from, in the order in which AWS's clients look. */
export type RoleSource =
  | { kind: 'web_identity'; roleArn: string; tokenFile: string; sessionName: string; stsUrl: string }
  | { kind: 'container'; url: string; token: { file: string } | { value: string } | undefined }
  | { kind: 'instance'; url: string }

export interface FetchKeysOptions {
  /** For the public Internet. */
  outside: Dispatcher
  /** For this machine and its network. */
  direct: Dispatcher
  /** The time of day. */
  nowMs: () => number
}

type Keys = Fetched<SigningKeys>

const timeoutMs = 10_000
const maxLifetimeMs = 86_400_000
/** Seconds that a token of the metadata server is valid for; it serves one renewal. */
const metadataTokenSeconds = 60
const metadataPath = '/latest/meta-data/iam/security-credentials/'

/** Fetches temporary keys of a role. */
export function createFetchKeys(source: RoleSource, options: FetchKeysOptions): () => Promise<Keys> {
  switch (source.kind) {
    case 'web_identity':
      return () => assumeRole(source, options)
    case 'container':
      return () => askContainer(source, options)
    case 'instance':
      return () => askInstance(source.url, options)
  }
}

type SourceOf<K extends RoleSource['kind']> = Extract<RoleSource, { kind: K }>

async function assumeRole(
  source: SourceOf<'web_identity'>,
  { outside, nowMs }: FetchKeysOptions,
): Promise<Keys> {
  const form = new URLSearchParams({
    Action: 'AssumeRoleWithWebIdentity',
    Version: '2011-06-15',
    RoleArn: source.roleArn,
    RoleSessionName: source.sessionName,
    // Read each time: Kubernetes replaces it.
    WebIdentityToken: (await readFile(source.tokenFile, 'utf8')).trim(),
  })
  const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/xml' }
  const text = await ask(source.stsUrl, outside, 'STS', { method: 'POST', headers, body: form.toString() })
  const elementOf = (name: string) => new RegExp(`<${name}>([^<]+)</${name}>`).exec(text)?.[1]
  const names = ['AccessKeyId', 'SecretAccessKey', 'SessionToken', 'Expiration']
  return keysOf(Object.fromEntries(names.map((name) => [name, elementOf(name)])), 'STS', nowMs())
}

async function askContainer(
  { url, token }: SourceOf<'container'>,
  { direct, nowMs }: FetchKeysOptions,
): Promise<Keys> {
  const value =
    token === undefined || 'value' in token ? token?.value : (await readFile(token.file, 'utf8')).trim()
  const who = "the container's credentials"
  const headers = value === undefined ? {} : { authorization: value }
  const { Token, ...given } = jsonOf(await ask(url, direct, who, { headers }), who)
  return keysOf({ ...given, SessionToken: Token }, who, nowMs())
}

/** Version 2 of the service: a token first. */
async function askInstance(url: string, { direct, nowMs }: FetchKeysOptions): Promise<Keys> {
  const who = 'the instance metadata service'
  const ttl = { 'x-aws-ec2-metadata-token-ttl-seconds': String(metadataTokenSeconds) }
  const token = await ask(`${url}/latest/api/token`, direct, who, { method: 'PUT', headers: ttl })
  const headers = { 'x-aws-ec2-metadata-token': token.trim() }
  const roles = await ask(url + metadataPath, direct, who, { headers })
  const role = encodeURIComponent(roles.trim().split('\n')[0] ?? '')
  const { Token, ...given } = jsonOf(await ask(url + metadataPath + role, direct, who, { headers }), who)
  return keysOf({ ...given, SessionToken: Token }, who, nowMs())
}

interface Question {
  method?: 'GET' | 'POST' | 'PUT'
  headers: Record<string, string>
  body?: string
}

/** The text of an answer. Errors quote nothing of it but STS's code. */
async function ask(url: string, dispatcher: Dispatcher, who: string, question: Question): Promise<string> {
  const signal = AbortSignal.timeout(timeoutMs)
  const { statusCode, body } = await request(url, { method: 'GET', ...question, dispatcher, signal })
  const text = await body.text()
  if (statusCode === 200) return text
  const code = /<Code>([A-Za-z]+)<\/Code>/.exec(text)?.[1]
  throw new Error(`${who} answered ${statusCode}${code === undefined ? '' : ` ${code}`}`)
}

const keysSchema = z.object({
  AccessKeyId: z.string().regex(/^\w+$/),
  SecretAccessKey: z.string().min(1),
  SessionToken: z.string().regex(/^[\x21-\x7e]+$/),
  Expiration: z.iso.datetime({ offset: true }),
})

function jsonOf(text: string, who: string): Record<string, unknown> {
  try {
    return z.record(z.string(), z.unknown()).parse(JSON.parse(text))
  } catch {
    // The text of the error would quote the answer, which may contain keys.
    throw new Error(`${who} answered no JSON object`)
  }
}

function keysOf(given: unknown, who: string, nowMs: number): Keys {
  const keys = keysSchema.safeParse(given)
  if (!keys.success) throw new Error(`the answer of ${who} contains no temporary keys`)
  const { AccessKeyId: accessKeyId, SecretAccessKey: secretAccessKey, SessionToken, Expiration } = keys.data
  const lifetimeMs = Math.min(Date.parse(Expiration) - nowMs, maxLifetimeMs)
  if (lifetimeMs <= 0) throw new Error(`the keys of ${who} have expired`)
  return { value: { accessKeyId, secretAccessKey, sessionToken: SessionToken }, lifetimeMs }
}

import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { Agent } from 'undici'
import { startLocalServer, type LocalServer } from '#tests/support/local-server.ts'
import { createFetchKeys, type RoleSource } from './fetch-keys.ts'

const nowMs = Date.UTC(2026, 0, 1)
const expiration = '2026-01-01T01:00:00Z'
const json = { AccessKeyId: 'ASIA1', SecretAccessKey: 's/k', Token: 't+k==', Expiration: expiration }
const expected = {
  value: { accessKeyId: 'ASIA1', secretAccessKey: 's/k', sessionToken: 't+k==' },
  lifetimeMs: 3_600_000,
}

/** What the services of AWS answer, by method and path. */
type Answer = (request: IncomingMessage, body: string) => [status: number, body: string]
let answer: Answer
let server: LocalServer
let directory: string
const agent = new Agent()

beforeAll(async () => {
  server = await startLocalServer(
    createServer((request, response) => {
      void text(request).then((body) => {
        const [status, answered] = answer(request, body)
        response.writeHead(status).end(answered)
      })
    }),
  )
  directory = await mkdtemp(join(tmpdir(), 'sluice-aws-'))
  await writeFile(join(directory, 'token'), 'web-token\n')
})
afterAll(async () => {
  await agent.close()
  await server.stop()
  await rm(directory, { recursive: true })
})
beforeEach(() => {
  answer = () => [404, '']
})

const fetchKeys = (source: RoleSource) =>
  createFetchKeys(source, { outside: agent, direct: agent, nowMs: () => nowMs })()

const webIdentity = (): RoleSource => ({
  ...{ kind: 'web_identity', roleArn: 'arn:aws:iam::1:role/r', sessionName: 'me' },
  ...{ tokenFile: join(directory, 'token'), stsUrl: `${server.url}/` },
})

test('web identity: STS gives keys for the token of the file', async () => {
  answer = (_request, body) => {
    expect(Object.fromEntries(new URLSearchParams(body))).toEqual({
      ...{ Action: 'AssumeRoleWithWebIdentity', Version: '2011-06-15' },
      ...{ RoleArn: 'arn:aws:iam::1:role/r', RoleSessionName: 'me', WebIdentityToken: 'web-token' },
    })
    const fields = Object.entries({ ...json, SessionToken: json.Token, Token: undefined })
    const elements = fields.map(([name, value]) => `<${name}>${value}</${name}>`).join('\n')
    return [
      200,
      `<R xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Credentials>${elements}</Credentials></R>`,
    ]
  }
  expect(await fetchKeys(webIdentity())).toEqual(expected)
})

test('a container: the agent gives keys for the token of its file', async () => {
  answer = ({ url, headers }) =>
    url === '/v1/credentials' && headers.authorization === 'web-token'
      ? [200, JSON.stringify(json)]
      : [401, '']
  const token = { file: join(directory, 'token') }
  expect(await fetchKeys({ kind: 'container', url: `${server.url}/v1/credentials`, token })).toEqual(expected)
})

test('an instance: version 2 of the metadata service, and no other', async () => {
  answer = ({ method, url, headers }) => {
    if (method === 'PUT' && url === '/latest/api/token')
      return [Number(headers['x-aws-ec2-metadata-token-ttl-seconds']) > 0 ? 200 : 400, 'imds-token']
    if (headers['x-aws-ec2-metadata-token'] !== 'imds-token') return [401, '']
    const at = '/latest/meta-data/iam/security-credentials/'
    if (url === at) return [200, 'the-role\n']
    return url === `${at}the-role` ? [200, JSON.stringify(json)] : [404, '']
  }
  expect(await fetchKeys({ kind: 'instance', url: server.url })).toEqual(expected)
})

test.each<[string, Answer, string]>([
  [
    'a refusal, by its code alone',
    () => [400, '<Error><Code>ExpiredTokenException</Code><Message>secret</Message></Error>'],
    'STS answered 400 ExpiredTokenException',
  ],
  [
    'no keys',
    () => [200, '<R><SecretAccessKey>secret</SecretAccessKey></R>'],
    'the answer of STS contains no temporary keys',
  ],
])('%s', async (_name, given, message) => {
  answer = given
  await expect(fetchKeys(webIdentity())).rejects.toThrow(new Error(message))
})

test.each<[string, string, string]>([
  ['no JSON', 'secret', "the container's credentials answered no JSON object"],
  [
    'keys that have expired',
    JSON.stringify({ ...json, Expiration: '2025-12-31T23:59:59Z' }),
    "the keys of the container's credentials have expired",
  ],
])('%s', async (_name, body, message) => {
  answer = () => [200, body]
  const source: RoleSource = { kind: 'container', url: server.url, token: undefined }
  await expect(fetchKeys(source)).rejects.toThrow(new Error(message))
})

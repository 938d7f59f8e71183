import { createVerify, generateKeyPairSync } from 'node:crypto'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { JWT } from 'google-auth-library'
import { Agent } from 'undici'
import { startLocalServer, type LocalServer } from '#tests/support/local-server.ts'
import { fetchMetadataToken } from './metadata-tokens.ts'
import { cloudScope, createServiceAccountTokens, readServiceAccount } from './service-account.ts'

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
const agent = new Agent()
/** Google's token endpoint and metadata server. */
let server: LocalServer
let asked: { url: string; flavor: string | undefined; form: URLSearchParams }[]
let status: number

beforeAll(async () => {
  server = await startLocalServer(
    createServer((request, response) => {
      const { url = '', headers } = request
      void text(request).then((body) => {
        asked.push({ url, flavor: headers['metadata-flavor'] as string, form: new URLSearchParams(body) })
        response.writeHead(status, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ access_token: 'ya29.t', token_type: 'Bearer', expires_in: 3_599 }))
      })
    }),
  )
})
afterAll(async () => {
  await agent.close()
  await server.stop()
})
beforeEach(() => {
  asked = []
  status = 200
})

const fileOf = (more: object = {}) =>
  JSON.stringify({
    ...{ type: 'service_account', project_id: 'p', private_key_id: 'kid-1', private_key: pem },
    ...{ client_email: 'gateway@p.iam.gserviceaccount.com', token_uri: `${server.url}/token`, ...more },
  })

function partsOf(form: URLSearchParams) {
  const assertion = form.get('assertion') ?? ''
  const [head = '', claims = '', signature = ''] = assertion.split('.')
  const jsonOf = (part: string) =>
    JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>
  const isSigned = createVerify('sha256')
    .update(`${head}.${claims}`)
    .verify(publicKey, Buffer.from(signature, 'base64url'))
  return { head: jsonOf(head), claims: jsonOf(claims), isSigned, grant: form.get('grant_type') }
}

test("a service account's assertion says what Google's own client says", async () => {
  const nowMs = Date.now()
  const account = readServiceAccount(fileOf())
  const fetchToken = createServiceAccountTokens(account, {
    ...{ scope: cloudScope, dispatcher: agent, nowMs: () => nowMs },
  })
  expect(await fetchToken()).toEqual({ value: 'ya29.t', lifetimeMs: 3_599_000 })
  const client = new JWT({
    ...{ email: account.client_email, key: pem, keyId: 'kid-1', scopes: [cloudScope] },
    // Its endpoint is fixed: the request goes to ours.
    transporterOptions: {
      fetchImplementation: (_url: unknown, init?: RequestInit) => fetch(`${server.url}/token`, init),
    },
  })
  await client.authorize()
  const [own, theirs] = asked.map(({ form }) => partsOf(form))
  expect(own).toMatchObject({ isSigned: true, claims: { aud: `${server.url}/token` } })
  expect(theirs?.isSigned).toBe(true)
  expect(own?.head).toEqual({ alg: 'RS256', typ: 'JWT', kid: 'kid-1' })
  const { iat, exp } = (own?.claims ?? {}) as { iat: number; exp: number }
  expect([iat, exp - iat]).toEqual([Math.floor(nowMs / 1_000), 3_600])
  const timeless = (parts: typeof own) => {
    const { iat: _iat, exp: _exp, aud: _aud, ...claims } = parts?.claims ?? {}
    return { alg: parts?.head['alg'], grant: parts?.grant, claims }
  }
  expect(timeless(own)).toEqual(timeless(theirs))
})

test('the metadata server gives a token of the workload', async () => {
  const host = new URL(server.url).host
  expect(await fetchMetadataToken({ host, scope: 'a b' }, agent)).toMatchObject({ value: 'ya29.t' })
  expect(asked).toMatchObject([
    { url: '/computeMetadata/v1/instance/service-accounts/default/token?scopes=a%2Cb', flavor: 'Google' },
  ])
  status = 404
  await expect(fetchMetadataToken({ host, scope: 'a' }, agent)).rejects.toThrow('answered 404')
})

test.each([
  ['no JSON', () => 'secret-text', 'is not the JSON of a Google service account: the object'],
  ['a field too few', () => fileOf({ client_email: undefined }), /account: client_email$/],
  ['credentials of another kind', () => fileOf({ type: 'authorized_user' }), /account: type$/],
  [
    'no key',
    () => fileOf({ private_key: 'secret-text' }),
    'private_key of the service account is no PEM key',
  ],
])('%s is refused, and quoted nowhere', (_name, file, message) => {
  expect(() => readServiceAccount(file())).toThrow(message)
  expect(() => readServiceAccount(file())).not.toThrow('secret-text')
})

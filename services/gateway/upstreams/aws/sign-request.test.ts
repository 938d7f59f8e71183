import { expect, test } from '@jest/globals'
import { AwsV4Signer } from 'aws4fetch'
import fc from 'fast-check'
import { signRequest } from './sign-request.ts'

const keys = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  sessionToken: undefined,
}
const atMs = Date.UTC(2015, 7, 30, 12, 36, 0, 123)
const host = 'example.amazonaws.com'
const scope = { region: 'us-east-1', service: 'service' }
const signatureOf = (headers: readonly string[]) =>
  /Signature=([0-9a-f]{64})$/.exec(headers.at(-1) ?? '')?.[1]

const unreserved = '-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const form = ['Content-Type', 'application/x-www-form-urlencoded']
const vanilla = '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'

/** Of the test suite that AWS publishes for Signature Version 4, by its names. */
test.each<[name: string, method: string, target: string, headers: string[], body: string, signature: string]>(
  [
    ['get-vanilla', 'GET', '/', [], '', vanilla],
    ['get-slash-dot-slash', 'GET', '/./', [], '', vanilla],
    ['get-relative-relative', 'GET', '/example1/example2/../..', [], '', vanilla],
    [
      'get-slashes',
      'GET',
      '//example//',
      [],
      '',
      '9a624bd73a37c9a373b5312afbebe7a714a789de108f0bdfe846570885f57e84',
    ],
    [
      'get-utf8',
      'GET',
      '/\u00e1\u0088\u00b4',
      [],
      '',
      '8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85',
    ],
    [
      'get-space',
      'GET',
      '/example space/',
      [],
      '',
      '652487583200325589f1fba4c7e578f72c47cb61beeca81406b39ddec1366741',
    ],
    [
      'get-unreserved',
      'GET',
      `/${unreserved}`,
      [],
      '',
      '07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f',
    ],
    [
      'get-vanilla-query-order-key-case',
      'GET',
      '/?Param2=value2&Param1=value1',
      [],
      '',
      'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
    ],
    ['post-vanilla', 'POST', '/', [], '', '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b'],
    [
      'post-x-www-form-urlencoded',
      'POST',
      '/',
      form,
      'Param1=value1',
      'ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a',
    ],
  ],
)('%s', (_name, method, target, headers, body, signature) => {
  const request = { method, host, target, headers, body: body === '' ? null : Buffer.from(body) }
  const signed = signRequest(request, keys, scope, atMs)
  expect(signed.slice(0, 2)).toEqual(['X-Amz-Date', '20150830T123600Z'])
  expect(signatureOf(signed)).toBe(signature)
})

const segment = fc.stringMatching(/^(?:[A-Za-z0-9:._~@!$&'()*,;=-]|%[0-9A-F]{2}){1,12}$/)
const word = fc.stringMatching(/^(?:[A-Za-z0-9._~:/-]|%20|%2B){1,8}$/)
const requests = fc.record({
  segments: fc.array(
    segment.filter((one) => !/^(?:\.|%2e){1,2}$/i.test(one)),
    { maxLength: 4 },
  ),
  query: fc.array(fc.tuple(word, word), { maxLength: 4 }),
  amz: fc.array(word, { maxLength: 2 }),
  body: fc.uint8Array({ maxLength: 40 }),
  sessionToken: fc.option(word, { nil: undefined }),
})

test('whatever the request, another implementation gives the same signature', async () => {
  await fc.assert(
    fc.asyncProperty(requests, async ({ segments, query, amz, body, sessionToken }) => {
      const path = `/${segments.join('/')}`
      const target = query.length === 0 ? path : `${path}?${query.map((pair) => pair.join('=')).join('&')}`
      const headers = ['Content-Type', 'application/json', 'X-Other', 'not signed']
      for (const [at, value] of amz.entries()) headers.push(`X-Amz-Own-${at}`, value)
      const own = signRequest(
        { method: 'POST', host, target, headers, body: Buffer.from(body) },
        { ...keys, sessionToken },
        { region: 'eu-west-1', service: 'bedrock' },
        atMs,
      )
      const signer = new AwsV4Signer({
        ...{ accessKeyId: keys.accessKeyId, secretAccessKey: keys.secretAccessKey },
        ...(sessionToken === undefined ? {} : { sessionToken }),
        ...{ region: 'eu-west-1', service: 'bedrock', datetime: '20150830T123600Z', allHeaders: true },
        ...{ method: 'POST', url: `https://${host}${target}`, body: Uint8Array.from(body) },
        headers: [
          ['Content-Type', 'application/json'],
          ...amz.map((value, at): [string, string] => [`X-Amz-Own-${at}`, value]),
        ],
      })
      expect(own.at(-1)).toBe(await signer.authHeader())
    }),
    { numRuns: 300 },
  )
})

test('values of one name are signed together, spaces in them once', () => {
  const signed = (headers: string[]) =>
    signatureOf(signRequest({ method: 'GET', host, target: '/', headers, body: null }, keys, scope, atMs))
  expect(signed(['X-Amz-A', 'a  b', 'x-amz-a', ' c '])).toBe(signed(['X-AMZ-A', 'a b,c']))
  expect(signed(['X-Amz-A', 'a'])).not.toBe(signed([]))
  expect(signed(['User-Agent', 'a'])).toBe(signed([]))
})

import { expect, test } from '@jest/globals'
import { redteamTargetSchema } from '#schemas/redteam-run.ts'
import { findCredentials } from './find-credentials.ts'

const pathsOf = (changes: object) => {
  const template = { kind: 'http', url: 'https://shop.example/ask', body: '{}', answer: '/out', ...changes }
  return findCredentials(redteamTargetSchema.parse(template)).map(({ path }) => path)
}

test.each(['Authorization', 'Cookie', 'X-API-Key', 'apikey', 'Ocp-Apim-Subscription-Key', 'X-Auth-Token'])(
  'a header %s holds its credential as {{key}} or not at all',
  (name) => {
    expect(pathsOf({ headers: { [name]: 'Bearer abc' } })).toEqual([`target.headers.${name.toLowerCase()}`])
    expect(pathsOf({ headers: { [name]: 'Bearer {{key}}' } })).toEqual([])
  },
)

test.each([
  ['?api-version=2&max_tokens=7&monkey=1', []],
  ['?key=abc', ['target.url']],
  ['?access_token=abc&token=abc', ['target.url', 'target.url']],
])('an address with %s', (query, paths) => {
  expect(pathsOf({ url: `https://shop.example/ask${query}` })).toEqual(paths)
  expect(findCredentials({ kind: 'chat', model: 'm', url: `https://shop.example/${query}` })).toHaveLength(
    paths.length,
  )
})

test('an address with a name, and headers that let nobody in', () => {
  expect(pathsOf({ url: 'https://ada:pw@shop.example/' })).toEqual(['target.url'])
  expect(pathsOf({ headers: { 'X-Shop': '7', 'Idempotency-Key': 'x' } })).toEqual([])
})

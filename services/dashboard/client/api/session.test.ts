import { afterEach, expect, jest, test } from '@jest/globals'
import { QueryClient } from '@tanstack/react-query'
import { endSession, forgetAnswers, meKey, meOptions, singleSignOnAddress } from './session.ts'

afterEach(() => {
  jest.restoreAllMocks()
})

test('anyone who signs in finds nothing of what was read before', () => {
  const client = new QueryClient()
  const read = ['GET /api/requests/{id}', { params: { id: 'req_1' } }]
  client.setQueryData(read, { request_body: 'said in confidence' })
  client.setQueryData(meKey, null)
  forgetAnswers(client)
  expect([client.getQueryData(read), client.getQueryData(meKey)]).toEqual([undefined, null])
  client.clear()
})

test.each([
  ['somebody else, who has signed in in another tab, finds nothing', { id: 'per_1' }, undefined],
  ['nor who did so while the login stood here', null, undefined],
  ['the same person finds', { id: 'per_2' }, 'said in confidence'],
])('%s of what was read before', async (_name, before, found) => {
  jest.spyOn(globalThis, 'fetch').mockResolvedValue(Response.json({ id: 'per_2' }))
  const client = new QueryClient()
  client.setQueryData(['read'], 'said in confidence')
  client.setQueryData(meKey, before)
  await client.query({ ...meOptions, staleTime: 0 })
  expect([client.getQueryData(['read']), client.getQueryData(meKey)]).toEqual([found, { id: 'per_2' }])
  client.clear()
})

test('who one is, asked before the session ended and answered behind it, is not shown', async () => {
  const client = new QueryClient()
  const answer = Promise.withResolvers<{ name: string }>()
  const asked = client.query({ queryKey: meKey, queryFn: () => answer.promise }).catch(() => undefined)
  await endSession(client)
  answer.resolve({ name: 'ada' })
  await Promise.all([asked, answer.promise])
  expect(client.getQueryData(meKey)).toBeNull()
  client.clear()
})

test.each([
  ['/tools', '', '/tools'],
  ['/requests', '?model=a%26b&sign_in_error=OIDC_REFUSED', '/requests?model=a%26b'],
])('single sign-on comes back to %s%s without what failed there', (pathname, search, expected) => {
  const { searchParams } = new URL(singleSignOnAddress({ pathname, search }), 'http://localhost')
  expect(searchParams.get('return_to')).toBe(expected)
})

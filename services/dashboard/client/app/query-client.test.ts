import { expect, test } from '@jest/globals'
import { QueryObserver } from '@tanstack/react-query'
import { ApiError } from '../api/call-api.ts'
import { meKey } from '../api/session.ts'
import { createQueryClient } from './query-client.ts'

const ended = new ApiError(401, { detail: 'the session has ended' })

test.each([
  ['the end of this session ends it here', null],
  ['an answer to what was sent in one before it does not', { id: 'person_1' }],
])('%s', async (_name, whoIsLoggedIn) => {
  const client = createQueryClient()
  client.setQueryData(meKey, { id: 'person_1' })
  // As the frame around all pages does while shown.
  const me = new QueryObserver(client, { queryKey: meKey, queryFn: () => whoIsLoggedIn, staleTime: Infinity })
  const answered = Promise.withResolvers<unknown>()
  const leave = me.subscribe(({ data, isFetchedAfterMount }) => {
    if (isFetchedAfterMount) answered.resolve(data)
  })
  await expect(client.query({ queryKey: ['poll'], queryFn: () => Promise.reject(ended) })).rejects.toBe(ended)
  expect(await answered.promise).toEqual(whoIsLoggedIn)
  leave()
  client.clear()
})

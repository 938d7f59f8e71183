import { expect, test } from '@jest/globals'
import { QueryObserver } from '@tanstack/react-query'
import { until } from '#tests/support/until.ts'
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
  // As the frame around all pages does, for as long as it is shown.
  const me = new QueryObserver(client, { queryKey: meKey, queryFn: () => whoIsLoggedIn, staleTime: Infinity })
  const leave = me.subscribe(() => undefined)
  await expect(client.query({ queryKey: ['poll'], queryFn: () => Promise.reject(ended) })).rejects.toBe(ended)
  await until(() => client.getQueryState(meKey)?.dataUpdateCount === 2)
  expect(client.getQueryData(meKey)).toEqual(whoIsLoggedIn)
  leave()
  client.clear()
})

import { expect, test } from '@jest/globals'
import { QueryClient } from '@tanstack/react-query'
import { forgetAnswers, meKey } from './session.ts'

test('whoever signs in finds nothing of what was read before', () => {
  const client = new QueryClient()
  const read = ['GET /api/requests/{id}', { params: { id: 'req_1' } }]
  client.setQueryData(read, { request_body: 'said in confidence' })
  client.setQueryData(meKey, null)
  forgetAnswers(client)
  expect([client.getQueryData(read), client.getQueryData(meKey)]).toEqual([undefined, null])
  client.clear()
})

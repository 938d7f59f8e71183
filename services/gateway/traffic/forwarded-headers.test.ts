import { expect, test } from '@jest/globals'
import { answerHeaders, splitRequestHeaders } from './forwarded-headers.ts'

test('what is for the gateway or of one connection does not go to the provider, what the message stands on does', () => {
  const { forwarded, service } = splitRequestHeaders(
    [
      ...['X-Service-Session-Id', 's1', 'Content-Type', 'application/json', 'X-Trace', 'a', 'x-trace', 'b'],
      ...['Connection', 'close, X-Hop ,Authorization', 'X-Hop', '1', 'TE', 'trailers', 'Host', 'gateway'],
      ...['Authorization', 'Bearer k', 'Api-Key', 'k'],
    ],
    new Set(['api-key']),
  )
  expect(forwarded).toEqual([
    ...['Content-Type', 'application/json', 'X-Trace', 'a', 'x-trace', 'b', 'Authorization', 'Bearer k'],
  ])
  expect(service).toEqual(new Map([['x-service-session-id', 's1']]))
})

test.each([
  ['GZip', 'GZip'],
  ['Identity', ''],
])('an answer of which Content-Encoding says %s is encoded so: %j', (value, contentEncoding) => {
  const raw = ['Content-Encoding', value]
  expect(answerHeaders(raw, 'req_1')).toMatchObject({
    contentEncoding,
    raw: expect.arrayContaining(raw) as unknown,
  })
})

test('an answer has the request identifier of this gateway alone, and nothing of the connection to the provider', () => {
  const { raw } = answerHeaders(
    [
      ...[
        'X-Service-Request-Id',
        'of another',
        'Content-Type',
        'text/plain',
        'Connection',
        'X-Hop, content-type',
      ],
      ...['X-Hop', '1', 'Keep-Alive', 'timeout=5', 'Set-Cookie', 'a', 'Set-Cookie', 'b'],
    ],
    'req_1',
  )
  expect(raw).toEqual([
    ...['Content-Type', 'text/plain', 'Set-Cookie', 'a', 'Set-Cookie', 'b', 'X-Service-Request-Id', 'req_1'],
  ])
})

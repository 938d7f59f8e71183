import { expect, test } from '@jest/globals'
import { describeFailure } from './describe-failure.ts'
import { AddressRefused } from './guarded-connector.ts'

const failure = (code: string, message = 'connect ECONNREFUSED 10.0.0.7:443') =>
  Object.assign(new Error(message), { code })

test.each([
  [failure('ECONNREFUSED'), 'the connection was refused'],
  [new AggregateError([failure('ENETUNREACH')]), 'the network cannot be reached'],
  [failure('ENOTFOUND'), 'the host name does not resolve'],
  [failure('DEPTH_ZERO_SELF_SIGNED_CERT', 'self-signed certificate'), 'TLS: self-signed certificate'],
  [failure('HPE_INVALID_CONSTANT'), 'the answer is not HTTP'],
  [failure('ESOMETHING'), 'the request failed (ESOMETHING)'],
  [new AddressRefused('the host has no public address'), 'the host has no public address'],
  ['text', 'the request failed'],
])('%s', (error, expected) => {
  expect(describeFailure(error)).toBe(expected)
})

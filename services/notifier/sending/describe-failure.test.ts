import { expect, test } from '@jest/globals'
import { HeadTooLarge, MalformedAnswer } from '#runtime/http1/answer-head.ts'
import { ConnectionClosed } from '#runtime/http1/http-connection.ts'
import { describeFailure } from './describe-failure.ts'
import { AddressRefused } from './guarded-connector.ts'

const failure = (code: string, message = 'connect ECONNREFUSED 10.0.0.7:443') =>
  Object.assign(new Error(message), { code })

test.each<[unknown, string]>([
  [failure('ECONNREFUSED'), 'the connection was refused'],
  [new AggregateError([failure('ENETUNREACH')]), 'the network cannot be reached'],
  [failure('ENOTFOUND'), 'the host name does not resolve'],
  [failure('DEPTH_ZERO_SELF_SIGNED_CERT', 'self-signed certificate'), 'TLS: self-signed certificate'],
  [new MalformedAnswer(), 'the answer is not HTTP'],
  [new HeadTooLarge(), 'the headers of the answer are too large'],
  [new ConnectionClosed(), 'the connection was closed before an answer'],
  [failure('ESOMETHING'), 'the request failed (ESOMETHING)'],
  [new AddressRefused('the host has no public address'), 'the host has no public address'],
  ['text', 'the request failed'],
])('%s', (error, expected) => {
  expect(describeFailure(error)).toBe(expected)
})

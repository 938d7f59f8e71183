import { expect, test } from '@jest/globals'
import kafkajs from 'kafkajs'
import { isUnreachable } from './reach-cluster.ts'

const connection = (code?: string) =>
  new kafkajs.KafkaJSConnectionError('Connection error', code === undefined ? {} : { code })
const givenUp = (error: Error) =>
  Object.assign(new kafkajs.KafkaJSError('retried six times'), { cause: error })

test.each<[string, Error, boolean]>([
  ['a port that nobody listens on', givenUp(connection('ECONNREFUSED')), true],
  ['a name that nobody knows yet', givenUp(connection('ENOTFOUND')), true],
  ['a host that says nothing', givenUp(connection()), true],
  ['a broker that stands still', new Error('Broker not connected'), true],
  ['a certificate of somebody else', givenUp(connection('DEPTH_ZERO_SELF_SIGNED_CERT')), false],
  ['a wrong password', new kafkajs.KafkaJSError('SASL PLAIN authentication failed'), false],
  ['a right that is missing', new kafkajs.KafkaJSError('not authorized to access group'), false],
  ['a mistake of ours', new TypeError('undefined is not a function'), false],
])('%s', (_name, error, isWaitedFor) => {
  expect(isUnreachable(error)).toBe(isWaitedFor)
})

import { expect, test } from '@jest/globals'
import kafkajs from 'kafkajs'
import type { Admin } from 'kafkajs'
import { hasty } from '#tests/support/hand-driven-group.ts'
import { createLog } from '../log.ts'
import { explainFailure } from './explain-failure.ts'
import { isWaitedFor, reachCluster } from './reach-cluster.ts'

const connection = (code?: string) =>
  new kafkajs.KafkaJSConnectionError('Connection error', code === undefined ? {} : { code })
const givenUp = (error: Error) =>
  Object.assign(new kafkajs.KafkaJSError('retried six times'), { cause: error })

const noCoordinator = Object.assign(new kafkajs.KafkaJSError('Failed to find group coordinator'), {
  name: 'KafkaJSGroupCoordinatorNotFound',
})
const loading = Object.assign(new Error('loading'), { type: 'GROUP_LOAD_IN_PROGRESS' })

test.each<[string, Error, boolean]>([
  ['a port that nobody listens on', givenUp(connection('ECONNREFUSED')), true],
  ['a name that nobody knows yet', givenUp(connection('ENOTFOUND')), true],
  ['a host that says nothing', givenUp(connection()), true],
  ['a broker that stands still', new Error('Broker not connected'), true],
  ['a cluster that has made no place for groups yet', noCoordinator, true],
  ['a coordinator that reads its log', givenUp(loading), true],
  ['a certificate of somebody else', givenUp(connection('DEPTH_ZERO_SELF_SIGNED_CERT')), false],
  ['a wrong password', new kafkajs.KafkaJSError('SASL PLAIN authentication failed'), false],
  ['a right that is missing', new kafkajs.KafkaJSError('not authorized to access group'), false],
  ['a mistake of ours', new TypeError('undefined is not a function'), false],
])('%s', (_name, error, expected) => {
  expect(isWaitedFor(error)).toBe(expected)
})

test.each([
  ['Closed connection', 'KAFKA_SSL, KAFKA_SASL_MECHANISM'],
  [
    'Connection error: Client network socket disconnected before secure TLS connection was established',
    'KAFKA_SSL',
  ],
  [
    'Connection error: 40:error:0A0:SSL routines:ssl3_read_bytes:ssl/tls alert bad certificate:rec_layer_s3.c:918:SSL alert number 42\n',
    'KAFKA_SSL_CERT',
  ],
])('%s: the settings that it may come from are named', (message, names) => {
  expect(explainFailure(new Error(message))).toMatch(new RegExp(`^${message.trim()} \\(.*${names}`))
})

test('whatever fails on the way is tried again from the beginning', async () => {
  const failures = [noCoordinator, connection('ECONNRESET'), connection('ECONNREFUSED')]
  const failOnce = (): Promise<void> => {
    const failure = failures.pop()
    return failure === undefined ? Promise.resolve() : Promise.reject(failure)
  }
  const admin = {
    connect: () => Promise.resolve(),
    describeCluster: () => Promise.resolve({ clusterId: 'c' }),
    listTopics: () => Promise.resolve(['t']),
    describeGroups: failOnce,
  } as unknown as Admin
  const consumer = { connect: failOnce, subscribe: failOnce, disconnect: () => Promise.resolve() }
  const waiting: (string | undefined)[] = []
  const reached = await reachCluster({
    admin,
    consumer,
    groupId: 'g',
    topics: ['t'],
    clock: hasty,
    log: createLog('reach', 'silent'),
    onWaiting: (reason) => void waiting.push(reason),
    stopping: new AbortController().signal,
  })
  expect(reached).toBe('c')
  // kafkajs gives the lack of a right on the group no other name than the lack of a coordinator.
  const noRight =
    'Failed to find group coordinator: the cluster makes its first, or this user may not read the group'
  expect(waiting).toEqual(['Connection error', 'Connection error', noRight, undefined])
})

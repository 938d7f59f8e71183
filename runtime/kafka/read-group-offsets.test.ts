import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { afterAll, expect, test } from '@jest/globals'
import kafkajs from 'kafkajs'
import { hasPassed, readGroupOffsets } from './read-group-offsets.ts'

const silent = createServer((socket) => socket.unref()).listen(0, '127.0.0.1')

afterAll(() => {
  silent.close()
})

test('a broker that takes connections and answers nothing is asked again later: it ended sinks after 20 s', async () => {
  if (!silent.listening) await once(silent, 'listening')
  const kafka = new kafkajs.Kafka({
    brokers: [`127.0.0.1:${(silent.address() as AddressInfo).port}`],
    requestTimeout: 50,
    connectionTimeout: 200,
    retry: { retries: 1, initialRetryTime: 5 },
    logLevel: kafkajs.logLevel.NOTHING,
  })
  const failure = { code: 'KAFKA_UNAVAILABLE', retry: 'later' }
  await expect(readGroupOffsets(kafka, 'calls', 'sink')).rejects.toMatchObject(failure)
})

test('nothing is asked any more once something has failed: kafkajs would connect again for it, for good', async () => {
  const asked: string[] = []
  const admin = {
    connect: () => Promise.resolve(),
    fetchOffsets: () => Promise.reject(new kafkajs.KafkaJSNonRetriableError('no such topic')),
    fetchTopicOffsets: () => Promise.resolve(void asked.push('ends')),
    disconnect: () => Promise.resolve(),
  }
  const kafka = { admin: () => admin } as unknown as kafkajs.Kafka
  await expect(readGroupOffsets(kafka, 'calls', 'sink')).rejects.toThrow('no such topic')
  expect(asked).toEqual([])
})

test.each<[string, boolean, handled: [number, bigint][], now: [number, bigint][]]>([
  [
    'all of it',
    true,
    [
      [0, 5n],
      [1, 3n],
    ],
    [
      [0, 5n],
      [1, 3n],
    ],
  ],
  [
    'more than that',
    true,
    [
      [0, 9n],
      [1, 4n],
    ],
    [
      [0, 9n],
      [1, 9n],
    ],
  ],
  [
    'all but one record',
    false,
    [
      [0, 4n],
      [1, 3n],
    ],
    [
      [0, 5n],
      [1, 3n],
    ],
  ],
  [
    'one of two partitions',
    false,
    [[0, 5n]],
    [
      [0, 5n],
      [1, 3n],
    ],
  ],
  [
    'nothing of a topic that was recreated',
    true,
    [],
    [
      [0, 2n],
      [1, 0n],
    ],
  ],
  ['nothing of a topic that is gone', true, [], []],
])('a group that has handled %s has passed where the topic ended: %s', (_name, passed, handled, now) => {
  const then = new Map([
    [0, 5n],
    [1, 3n],
  ])
  expect(hasPassed({ handled: new Map(handled), ends: new Map(now) }, then)).toBe(passed)
})

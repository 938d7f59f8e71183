import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { afterAll, expect, test } from '@jest/globals'
import kafkajs from 'kafkajs'
import { readGroupOffsets } from './read-group-offsets.ts'

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

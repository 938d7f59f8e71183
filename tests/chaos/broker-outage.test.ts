import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { Kafka } from 'kafkajs'
import { awaitTopics } from '#infra/create-topics.ts'
import {
  startKafkaCluster,
  type ClusterBroker,
  type KafkaCluster,
} from '#infra/embedded/start-kafka-cluster.ts'
import { createKafka } from '#runtime/kafka/create-kafka.ts'
import { createProducer } from '#runtime/kafka/producer.ts'
import type { Producer } from '#runtime/kafka/records.ts'
import { createLog } from '#runtime/log.ts'
import { createMetrics } from '#runtime/metrics.ts'
import { readLog } from '../support/read-log.ts'

const topic = 'outage'
const log = createLog('broker-outage', process.env['CHAOS_LOG'] === undefined ? 'silent' : 'warn')
const cacheDirectory = join(import.meta.dirname, '..', '..', '.cache')
const away = { code: 'KAFKA_UNAVAILABLE', retry: 'later' }

describe('the only broker goes away', () => {
  let directory: string
  let cluster: KafkaCluster
  let broker: ClusterBroker
  let kafka: Kafka

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'sluice-outage-'))
    cluster = await startKafkaCluster({ brokers: 1, directory, cacheDirectory, say: () => undefined })
    broker = cluster.brokers[0] as ClusterBroker
    kafka = createKafka({ KAFKA_BROKERS: cluster.addresses }, { clientId: 'broker-outage', log })
    const admin = kafka.admin()
    await admin.connect()
    await admin.createTopics({ topics: [{ topic, numPartitions: 6 }], waitForLeaders: false })
    await awaitTopics(admin, [{ name: topic, partitions: 6 }])
    await admin.disconnect()
  }, 300_000)

  afterAll(async () => {
    await cluster.stop()
    await rm(directory, { recursive: true, force: true })
  })

  const newProducer = (sendTimeoutMs: number) =>
    createProducer({ kafka, log, metrics: createMetrics(), sendTimeoutMs })
  const send = (producer: Producer, key: string) => producer.send([{ topic, key, value: Buffer.from(key) }])

  test('sends fail in time, patient ones are written, and all works when it is back', async () => {
    const impatient = newProducer(1_000)
    const patient = newProducer(240_000)
    const late = newProducer(1_000)
    // A new broker may take longer than the impatient producer waits.
    await untilTaken(() => send(impatient, 'before'))
    await send(patient, 'before')

    await broker.kill()
    await late.start()
    const waiting = Promise.all(
      Array.from({ length: 300 }, (_unused, index) => send(patient, `waited ${index}`)),
    )
    for (const producer of [impatient, late, impatient]) {
      await expect(send(producer, 'refused')).rejects.toMatchObject(away)
    }

    await broker.restart()
    await waiting
    await untilTaken(() => send(impatient, 'after'))
    await untilTaken(() => send(late, 'after'))
    await Promise.all([impatient, patient, late].map((producer) => producer.stop()))
    const written = new Set((await readLog(kafka, topic)).map(({ key }) => key))
    const expected = Array.from({ length: 300 }, (_unused, index) => `waited ${index}`)
    for (const key of ['before', 'after', ...expected]) expect(written).toContain(key)
  }, 300_000)

  test('a silent broker is given up in time, and used again when it answers', async () => {
    const producer = newProducer(2_000)
    await untilTaken(() => send(producer, 'before the silence'))
    broker.pause()
    try {
      await untilRefused(() => send(producer, 'into the silence'))
      await expect(send(producer, 'into the silence')).rejects.toMatchObject(away)
    } finally {
      broker.resume()
    }
    await untilTaken(() => send(producer, 'after the silence'))
    await producer.stop()
    const written = (await readLog(kafka, topic)).map(({ key }) => key)
    expect(written).toContain('after the silence')
  }, 300_000)
})

/** SIGSTOP stops a process's threads one by one, so a send may still be answered on a loaded machine. */
async function untilRefused(attempt: () => Promise<void>): Promise<void> {
  for (;;) {
    const refusal: unknown = await attempt().then(
      () => undefined,
      (error: unknown) => error,
    )
    if (refusal === undefined) continue
    expect(refusal).toMatchObject(away)
    return
  }
}

/** Retries transient errors like the runtime. The test's timeout is the limit. */
async function untilTaken(attempt: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      await attempt()
      return
    } catch (error) {
      expect(error).toMatchObject(away)
    }
  }
}

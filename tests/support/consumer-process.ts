import { appendFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { createKafka } from '#runtime/kafka/create-kafka.ts'
import { createProducer } from '#runtime/kafka/producer.ts'
import { createLog } from '#runtime/log.ts'
import { createMetrics } from '#runtime/metrics.ts'
import { consumerOf, type ConsumerKind } from './consumer-bench.ts'

/**
 * A consumer in its own process, for tests that kill it. Prints a line for each handled record. A record
 * named `killer` ends the process by SIGKILL.
 */
const { values } = parseArgs({
  options: {
    kind: { type: 'string' },
    broker: { type: 'string' },
    topic: { type: 'string' },
    group: { type: 'string' },
    out: { type: 'string' },
  },
})
const { kind = '', broker = '', topic = '', group = '', out = '' } = values
const log = createLog('child', (process.env['TEST_LOG_LEVEL'] ?? 'silent') as 'silent')
const metrics = createMetrics()
const kafka = createKafka({ KAFKA_BROKERS: [broker] }, { clientId: 'child', log })
const producer = createProducer({ kafka, log, metrics })
const consumer = consumerOf({
  kind: kind as ConsumerKind,
  bench: { kafka, producer, log, metrics, topics: [topic], groupId: group },
  handle: async (value) => {
    await new Promise((resolve) => setTimeout(resolve, 10))
    if (value.startsWith('killer')) process.kill(process.pid, 'SIGKILL')
    appendFileSync(out, `${value}\n`)
    return undefined
  },
})
process.once('SIGTERM', () => void consumer.stop().then(() => producer.stop()))
await producer.start()
await consumer.start()
await consumer.done

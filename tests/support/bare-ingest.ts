import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import kafkajs from 'kafkajs'
import { serveOrders } from './bench-process.ts'

/**
 * Lower bound for ingest: Express parses a record and kafkajs sends it with `acks=all`, one record per
 * request or many on a second route. No validation, no derived fields, no encryption.
 */
const [brokers = '', topic = ''] = process.argv.slice(2)
const kafka = new kafkajs.Kafka({ brokers: brokers.split(','), logLevel: kafkajs.logLevel.NOTHING })
const producer = kafka.producer()
await producer.connect()

interface Body {
  id?: string
  records?: { id?: string }[]
}

const app = express()
app.use(express.json({ limit: '32mb' }))
app.post('/internal/log', async (request, response) => {
  const record = request.body as Body
  await producer.send({
    topic,
    acks: -1,
    messages: [{ key: record.id ?? null, value: JSON.stringify(record) }],
  })
  response.status(202).json({ status: 'queued' })
})
app.post('/internal/log/batch', async (request, response) => {
  const { records = [] } = request.body as Body
  const messages = records.map((record) => ({ key: record.id ?? null, value: JSON.stringify(record) }))
  await producer.send({ topic, acks: -1, messages })
  response.json({ results: records.map(() => ({ status: 'queued' })) })
})

const server = createServer(app)
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  serveOrders(`http://127.0.0.1:${port}`, () => null)
})

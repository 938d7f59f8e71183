import { expect, test } from '@jest/globals'
import { createLog } from '../log.ts'
import { createMetrics } from '../metrics.ts'
import { createProducerMetrics } from './producer-metrics.ts'
import { SendBuffer } from './send-buffer.ts'

test('an empty buffer takes what is larger than it, and nothing beside that', () => {
  const buffer = new SendBuffer(10, createLog('test', 'silent'), createProducerMetrics(createMetrics()))
  buffer.add(20)
  expect(() => buffer.add(1)).toThrow('20 bytes already wait for Kafka')
  buffer.remove(20)
  buffer.add(10)
  expect(() => buffer.add(1)).toThrow('10 bytes already wait')
})

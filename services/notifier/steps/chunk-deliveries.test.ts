import { expect, test } from '@jest/globals'
import { raisedEvent, webhookDelivery } from '../testing/sample-records.ts'
import { chunkDeliveries } from './chunk-deliveries.ts'

const kibibyte = 1024
const of = (count: number, bytes: number) => {
  const one = webhookDelivery({ event: raisedEvent({ data: Buffer.alloc(bytes) }) })
  return Array.from({ length: count }, () => one)
}

test.each([
  ['none', of(0, 0), []],
  ['a thousand rows', of(2_001, 10), [1_000, 1_000, 1]],
  ['eight mebibytes', of(130, 128 * kibibyte), [64, 64, 2]],
  ['one that is larger than a chunk stands alone', of(2, 9 * kibibyte * kibibyte), [1, 1]],
])('%s', (_name, deliveries, sizes) => {
  const chunks = chunkDeliveries(deliveries)
  expect(chunks.map(({ length }) => length)).toEqual(sizes)
  expect(chunks.flat()).toEqual(deliveries)
})

import { createRequire } from 'node:module'
import { describe, expect, test } from '@jest/globals'
import { murmur2, partitionForKey } from './partition-for-key.ts'

describe('partitionForKey', () => {
  // The values of org.apache.kafka.common.utils.UtilsTest.
  test.each([
    ['21', -973932308],
    ['foobar', -790332482],
    ['a-little-bit-long-string', -985981536],
    ['a-little-bit-longer-string', -1486304829],
    ['lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8', -58897971],
  ])('hashes %s as the Java client does', (key, hash) => {
    expect(murmur2(Buffer.from(key))).toBe(hash)
  })

  test('agrees with kafkajs on other keys', () => {
    const theirs = createRequire(import.meta.url)('kafkajs/src/producer/partitioners/default/murmur2.js') as (
      key: string,
    ) => number
    for (let length = 0; length < 40; length++) {
      const key = 'ключ req_01h455vb4pex5vsknk084sn02q'.slice(0, length)
      expect(murmur2(Buffer.from(key))).toBe(theirs(key))
    }
  })

  test('uses every partition', () => {
    const partitions = new Set(
      Array.from({ length: 200 }, (_unused, index) => partitionForKey(`key ${index}`, 6)),
    )
    expect([...partitions].sort()).toEqual([0, 1, 2, 3, 4, 5])
  })
})

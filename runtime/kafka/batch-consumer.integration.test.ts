import { expect, jest, test } from '@jest/globals'
import { consumerOf, createConsumerBench } from '#tests/support/consumer-bench.ts'
import { until } from '#tests/support/until.ts'
import { TransientError } from '../errors.ts'

jest.setTimeout(300_000)

test('a partition whose records fail for now holds up no other, though one broker brings them all', async () => {
  const bench = await createConsumerBench('batch')
  const seen: string[] = []
  let isAway = true
  let tries = 0
  const consumer = consumerOf({
    kind: 'batch',
    bench,
    handle: (value) => {
      if (value === 'waits' && isAway && ++tries > 0)
        return Promise.reject(new TransientError('STORE_AWAY', 'not now'))
      seen.push(value)
      return Promise.resolve(undefined)
    },
  })
  try {
    await consumer.start()
    await bench.send(['waits'], 0)
    await until(() => tries > 0)
    await bench.send(['one', 'two'], 1)
    await until(() => seen.length === 2)
    expect(consumer.health().status).toBe('degraded')
    isAway = false
    await until(async () =>
      (await bench.committed()).some(({ partition, offset }) => partition === 0 && offset === '1'),
    )
    expect(seen).toEqual(['one', 'two', 'waits'])
    expect(consumer.health().status).toBe('ok')
  } finally {
    await consumer.stop()
    await bench.close()
  }
})

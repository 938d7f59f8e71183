import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals'
import { PermanentError, TransientError } from '../errors.ts'
import { deadLetter, drop } from '../outcome.ts'
import type { Service } from '../service.ts'
import { groupSettingsOf } from './assignment.ts'
import { setGroupOffsets } from './set-group-offsets.ts'
import {
  consumerKinds,
  consumerOf,
  createConsumerBench,
  type ConsumerBench,
  type ConsumerParts,
} from '#tests/support/consumer-bench.ts'
import { until } from '#tests/support/until.ts'

jest.setTimeout(300_000)

const numbered = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => `value ${from + index}`)
const soon = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

describe.each(consumerKinds)('the %s consumer', (kind) => {
  let bench: ConsumerBench
  let seen: string[]
  let services: Service[]
  const consume = async (parts: Partial<ConsumerParts> = {}) => {
    const note = (value: string) => {
      seen.push(value)
      return Promise.resolve(undefined)
    }
    const consumer = consumerOf({ kind, bench, handle: note, ...parts })
    services.push(consumer)
    await consumer.start()
    return consumer
  }
  const committedSum = async () =>
    (await bench.committed()).reduce((sum, { offset }) => sum + Math.max(0, Number(offset)), 0)
  const marks = async () =>
    (await bench.committed()).map(({ metadata }) => metadata).filter((metadata) => metadata !== null)
  const metric = async (name: string) =>
    (await bench.metrics.registry.getSingleMetric(name)?.get())?.values ?? []

  beforeEach(async () => {
    bench = await createConsumerBench(kind)
    seen = []
    services = []
  })
  afterEach(async () => {
    for (const service of services) await service.stop()
    await bench.close()
  })

  test('handles every record once; poison bytes, drops and dead letters stop none of them', async () => {
    const values = [
      ...numbered(100),
      'poison',
      ...numbered(100, 100),
      'drop me',
      'refuse me',
      ...numbered(100, 200),
    ]
    await bench.send(values)
    const consumer = await consume({
      handle: (value) => {
        seen.push(value)
        if (value === 'drop me') return Promise.resolve(drop('asked'))
        if (value === 'refuse me')
          return Promise.resolve(deadLetter(new PermanentError('REFUSED', 'not this one')))
        return Promise.resolve(undefined)
      },
    })
    await until(async () => (await committedSum()) === values.length)
    await consumer.stop()
    expect(seen.toSorted()).toEqual(values.filter((value) => value !== 'poison').toSorted())
    const letters = await bench.read(`${bench.topic}.dlq`)
    expect(
      letters
        .map(({ key, value, headers }) => [key, value?.toString(), headers['sluice-dlq-code']])
        .toSorted(),
    ).toEqual([
      ['poison', 'poison', 'UNDECODABLE'],
      ['refuse me', 'refuse me', 'REFUSED'],
    ])
    expect(letters[0]?.headers).toMatchObject({
      'sluice-dlq-topic': bench.topic,
      'sluice-dlq-group': bench.groupId,
    })
    expect(await marks()).toEqual([])
    await expect(consumer.done).resolves.toBeUndefined()
  })

  test('a handler that fails for a while is tried again, and health says so', async () => {
    await bench.send(numbered(60))
    let failures = 6
    const statuses = new Set<string>()
    const ages: number[] = []
    const age = async () => (await metric('sluice_kafka_oldest_unfinished_age_seconds'))[0]?.value ?? 0
    const retry = { attempts: 20, initialDelayMs: 10, maxDelayMs: 100 }
    const consumer = await consume({
      batch: { retry },
      parallel: { retry },
      handle: async (value) => {
        if (failures-- > 0) {
          ages.push(await age())
          throw new TransientError('STORE_AWAY', 'not now')
        }
        statuses.add(consumer.health().status)
        seen.push(value)
        return undefined
      },
    })
    await until(async () => (await committedSum()) === 60)
    // What is tried again grows older meanwhile; the parallel consumer looks once a second, which this does
    // not take.
    const hasGrown = Math.max(...ages) > (ages[0] ?? Infinity)
    expect(hasGrown || kind === 'parallel').toBe(true)
    await until(async () => (await age()) === 0)
    expect(new Set(seen).size).toBe(60)
    expect(statuses).toContain('degraded')
    expect(consumer.health().status).toBe('ok')
    expect(await metric('sluice_kafka_retries_total')).not.toEqual([])
  })

  test('a handler that goes on failing ends the consumer; the offset stays and nothing is marked', async () => {
    await bench.send(numbered(10), 0)
    const retry = { attempts: 3, initialDelayMs: 10, maxDelayMs: 20 }
    const handle = () => Promise.reject(new TransientError('STORE_AWAY', 'not now'))
    const consumer = await consume({ handle, batch: { retry }, parallel: { retry } })
    await expect(consumer.done).rejects.toMatchObject({ code: 'STORE_AWAY' })
    expect(consumer.health().status).toBe('failed')
    await consumer.stop()
    expect(await committedSum()).toBe(0)
    expect(await marks()).toEqual([])
    await consume()
    await until(() => new Set(seen).size === 10)
  })

  test('an error that nobody classified ends the consumer; the offset stays', async () => {
    await bench.send(numbered(10), 0)
    const consumer = await consume({ handle: () => Promise.reject(new Error('surprise')) })
    await expect(consumer.done).rejects.toThrow('surprise')
    await consumer.stop()
    expect(await committedSum()).toBe(0)
    expect(await marks()).toEqual([])
  })

  test('a session that the broker does not grant ends it, and names the variable', async () => {
    const group = groupSettingsOf({ KAFKA_SESSION_TIMEOUT_MS: 1_000 })
    const named = /^KAFKA_SESSION_TIMEOUT_MS: .*group\.min\.session\.timeout\.ms/
    await expect(consume({ batch: { group }, parallel: { group } })).rejects.toThrow(named)
  })

  test('a mistake that one record brings out dead-letters it at the third try; its neighbours go on', async () => {
    const values = [...numbered(20), 'bug', ...numbered(20, 20)]
    await bench.send(values, 0)
    const handle = (value: string) => {
      if (value === 'bug') return Promise.reject(new TypeError('undefined is not a function'))
      seen.push(value)
      return Promise.resolve(undefined)
    }
    for (let life = 0; life < 3; life++) {
      const consumer = await consume({ handle })
      await expect(consumer.done).rejects.toThrow('undefined is not a function')
      await consumer.stop()
    }
    await consume({ handle })
    await until(async () => (await committedSum()) === values.length)
    expect(new Set(seen).size).toBe(40)
    const letters = await bench.read(`${bench.topic}.dlq`)
    expect(letters.map(({ value, headers }) => [value?.toString(), headers['sluice-dlq-code']])).toEqual([
      ['bug', 'CRASHED'],
    ])
  })

  test('stopping in the middle of work loses nothing and leaves no mark', async () => {
    await bench.send(numbered(300))
    const begun: string[] = []
    const consumer = await consume({
      handle: async (value) => {
        begun.push(value)
        await soon(5)
        seen.push(value)
        return undefined
      },
    })
    await until(() => seen.length > 30)
    await consumer.stop()
    expect(seen.toSorted()).toEqual(begun.toSorted())
    expect(await marks()).toEqual([])
    expect(seen.length).toBeLessThan(300)
    await consume()
    await until(async () => (await committedSum()) === 300)
    expect(new Set(seen).size).toBe(300)
    // The drained work was committed: only what had not been begun was left for the second one.
    expect(seen.length).toBe(300)
  })

  test('members come and go while records flow: none is lost', async () => {
    const handle = async (value: string) => {
      await soon(2)
      seen.push(value)
      return undefined
    }
    const first = await consume({ handle })
    await bench.send(numbered(400))
    await until(() => seen.length > 50)
    const second = await consume({ handle })
    await bench.send(numbered(400, 400))
    await until(() => seen.length > 300)
    await first.stop()
    await bench.send(numbered(200, 800))
    await until(() => new Set(seen).size === 1_000)
    await second.stop()
    expect(await committedSum()).toBe(1_000)
    expect(await marks()).toEqual([])
    expect(first.health().status).toBe('stopping')
  })

  test('records that were deleted before they were read are counted, and the rest is handled', async () => {
    await bench.send(numbered(20), 0)
    const consumer = await consume()
    await until(async () => (await committedSum()) === 20)
    await consumer.stop()
    await bench.send(numbered(30, 20), 0)
    await bench.admin.deleteTopicRecords({ topic: bench.topic, partitions: [{ partition: 0, offset: '35' }] })
    await consume()
    await until(async () => (await committedSum()) === 50)
    expect(seen).toHaveLength(35)
    expect(await metric('sluice_kafka_skipped_records_total')).toMatchObject([{ value: 15 }])
  })

  test("another tool's commit metadata means nothing", async () => {
    await bench.send(numbered(20), 0)
    const foreign = { topic: bench.topic, partition: 0, offset: 5n, metadata: 'tries=3 until=9' }
    await setGroupOffsets(bench.kafka, bench.groupId, [foreign])
    expect(await marks()).toContain(foreign.metadata)
    await consume()
    await until(async () => (await committedSum()) === 20)
    expect(seen).toHaveLength(15)
    expect(await bench.read(`${bench.topic}.dlq`)).toEqual([])
  })

  test('stop is safe before start, twice, and right behind start', async () => {
    const handle = () => Promise.resolve(undefined)
    const unused = consumerOf({ kind, bench, handle })
    await unused.stop()
    await unused.stop()
    await expect(unused.done).resolves.toBeUndefined()
    const hasty = consumerOf({ kind, bench, handle })
    const starting = hasty.start().catch(() => undefined)
    await hasty.stop()
    await starting
  })
})

import { describe, expect, test } from '@jest/globals'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createClient } from './create-client.ts'
import type { CallRecord, SluiceClient } from './types.ts'

/** Dropped values must be collected for their calls to be reported. */
setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

async function recordedOf(program: (client: SluiceClient) => unknown, count = 1): Promise<CallRecord[]> {
  const records: CallRecord[] = []
  const keep = (record: CallRecord) => {
    records.push(record)
    return null
  }
  const client = createClient({ apiKey: 'svc_test', baseUrl: 'http://127.0.0.1:9', beforeSend: keep })
  // In its own function, as values on the stack are not collected.
  await (async () => {
    await program(client)
  })()
  for (let turn = 0; turn < 50 && records.length < count; turn++) {
    collectGarbage()
    await sleep(5)
  }
  await client.shutdown(0)
  return records
}

async function* saying(): AsyncGenerator<string> {
  yield await Promise.resolve('The card is')
  yield ' 4111'
}

describe('a generator that is dropped is recorded with what it yielded', () => {
  const abandoned = { response_body: { result: { yielded: ['The card is'], returned: '[never read]' } } }

  test('after a step', async () => {
    const records = await recordedOf((client) => client.trace(saying)().next())
    expect(records).toMatchObject([abandoned])
    expect(records[0]?.response_body).not.toHaveProperty('truncated')
  })

  test('that is no async one', async () => {
    const work = function* () {
      yield 'The card is'
      yield ' 4111'
    }
    expect(await recordedOf((client) => client.trace(work)().next())).toMatchObject([abandoned])
  })

  test('of a call in a call, by each', async () => {
    const records = await recordedOf((client) => client.trace(client.trace(saying))().next(), 2)
    expect(records).toMatchObject([abandoned, abandoned])
  })

  test('with the object that has it, on which it was called', async () => {
    const records = await recordedOf((client) => {
      const ask = client.trace(function (this: { kept?: unknown }, holder: { kept?: unknown }) {
        const steps = saying()
        this.kept = steps
        holder.kept = steps
        return steps
      })
      const owner: { kept?: unknown; ask: typeof ask } = { ask }
      return owner.ask({}).next()
    })
    expect(records).toMatchObject([abandoned])
  })

  test('before the first step', async () => {
    const records = await recordedOf((client) => {
      client.trace(saying)()
    })
    expect(records).toMatchObject([{ response_body: { result: { yielded: [], returned: '[never read]' } } }])
  })

  test.each([
    ['its last step', 1],
    ['its call', 0],
  ])('with the time of %s', async (_name, steps) => {
    const begunMs = performance.now()
    let usedMs = 0
    const records = await recordedOf(async (client) => {
      const held = client.trace(saying)()
      for (let step = 0; step < steps; step++) await held.next()
      usedMs = performance.now() - begunMs
      await sleep(300)
      return held.constructor
    })
    // In whole milliseconds.
    expect(records[0]?.latency_ms).toBeLessThanOrEqual(usedMs + 1)
  })
})

test('what is dropped during a step is recorded with what the step brings', async () => {
  const slow = async function* () {
    yield await sleep(100, 'late')
  }
  const seen: unknown[] = []
  const records = await recordedOf((client) => {
    const outer = client.trace(client.trace(slow))
    void outer()
      .next()
      .then(({ value }) => seen.push(value))
  }, 2)
  expect(seen).toEqual(['late'])
  const late = { response_body: { result: { yielded: ['late'] } } }
  expect(records).toMatchObject([late, late])
})

test('of a promise that nobody asked the answer is unknown, and not called safe', async () => {
  class Own extends Promise<unknown> {}
  const records = await recordedOf((client) => {
    const holder: { kept?: unknown } = {}
    void client.trace((given: { kept?: unknown }) => (given.kept = Own.resolve(1)))(holder)
  })
  expect(records).toMatchObject([{ response_body: { result: '[never read]', truncated: true } }])
})

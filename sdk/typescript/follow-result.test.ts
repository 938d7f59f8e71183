import { describe, expect, test } from '@jest/globals'
import OpenAI from 'openai'
import { plainValue } from './capturing/plain-value.ts'
import { followResult } from './follow-result.ts'
import type { Span } from './traced-call.ts'

/** What the program receives, and the first report to the span, as JSON. */
function followed<T>(result: T): { given: T; told: unknown[] } {
  const told: unknown[] = []
  const tell = (what: unknown) => {
    if (told.length === 0) told.push(plainValue(what))
  }
  const span: Span = {
    end: (output) => {
      tell(output().value)
    },
    fail: (error) => {
      tell({ error: String(error) })
    },
  }
  const onDefect = tell
  return { given: followResult(result, { span, onDefect, inside: (work) => work() }) as T, told }
}

const failure = new Error('no')

test('a promise of a class of its own is heard when the program awaits it, which may start its work', async () => {
  class Lazy extends Promise<number> {
    static started = 0
    override then<A, B>(
      done?: ((value: number) => A | PromiseLike<A>) | null,
      failed?: ((error: unknown) => B | PromiseLike<B>) | null,
    ) {
      // prettier-ignore
      Lazy.started++
      return super.then(done, failed)
    }
  }
  const lazy = new Lazy((resolve) => {
    resolve(1)
  })
  const { given, told } = followed(lazy)
  expect(given).toBe(lazy)
  await Promise.resolve()
  expect([Lazy.started, told]).toEqual([0, []])
  expect([await given, await given]).toEqual([1, 1])
  expect([Lazy.started, told]).toEqual([2, [1]])
})

test.each<[string, (promise: Promise<unknown>) => Promise<unknown>]>([
  ['catch', (promise) => promise.catch((error: unknown) => error)],
  ['then', (promise) => promise.then(undefined, (error: unknown) => error)],
  ['finally', (promise) => promise.finally(() => undefined).catch((error: unknown) => error)],
])('a rejection is heard by %s', async (_name, way) => {
  class Own extends Promise<unknown> {}
  const { given, told } = followed(Own.reject(failure))
  expect(await way(given)).toBe(failure)
  expect(told).toEqual([{ error: 'Error: no' }])
})

describe('calls that return one and the same', () => {
  const manyTimes = 20_000
  class Own extends Promise<unknown> {}

  test('promise, asked by each or by one for all, are all told', async () => {
    const shared = Own.resolve(1)
    const awaited = followed(shared)
    for (let times = 1; times < manyTimes; times++) await followed(shared).given
    const [first, ...rest] = Array.from({ length: manyTimes }, () => followed(shared))
    expect([await awaited.given, awaited.told, first?.told]).toEqual([1, [1], [1]])
    expect(new Set(rest.map(({ told }) => told[0]))).toEqual(new Set([1]))
  })

  test('promise of a generator, which is read through once', async () => {
    const counting = function* () {
      yield 1
    }
    const shared = Own.resolve(counting())
    const calls = Array.from({ length: manyTimes }, () => followed(shared))
    expect([...((await shared) as Generator)]).toEqual([1])
    expect(new Set(calls.map(({ told }) => JSON.stringify(told)))).toEqual(new Set(['[{"yielded":[1]}]']))
  })

  test('promise that is rejected', async () => {
    const shared = Own.reject(failure)
    const calls = [followed(shared), followed(shared)]
    await expect(shared).rejects.toThrow(failure)
    await expect(followed(shared).given).rejects.toThrow(failure)
    expect(calls.map(({ told }) => told)).toEqual([[{ error: 'Error: no' }], [{ error: 'Error: no' }]])
  })
})

test('a generator that a promise resolves to', async () => {
  const counting = function* () {
    yield 1
  }
  const { given, told } = followed(Promise.resolve(counting()))
  expect([...(await given)]).toEqual([1])
  expect(told).toEqual([{ yielded: [1] }])
})

describe('what the official client returns', () => {
  const answer = { choices: [{ message: { content: 'Hello' } }] }
  const parts = ['Hel', 'lo'].map((content) => ({ choices: [{ delta: { content } }] }))
  const said = { yielded: [{ choices: [{ message: { content: 'Hello' } }] }] }
  const events = [...parts.map((part) => JSON.stringify(part)), '[DONE]']
  const streamed = () =>
    new Response(events.map((event) => `data: ${event}\n\n`).join(''), {
      headers: { 'content-type': 'text/event-stream' },
    })
  const clientOf = (response: () => Response) =>
    new OpenAI({ apiKey: 'k', maxRetries: 0, fetch: () => Promise.resolve(response()) })
  const question = { model: 'm', messages: [] }
  const ask = (status = 200) =>
    followed(clientOf(() => Response.json(answer, { status })).chat.completions.create(question))

  test('its promise, awaited, raw, both, and failing', async () => {
    const awaited = ask()
    expect(await awaited.given).toMatchObject(answer)
    expect(awaited.told).toMatchObject([answer])
    const raw = ask()
    expect(await (await raw.given.asResponse()).json()).toEqual(answer)
    expect(raw.told).toEqual(['[Response]'])
    const both = ask()
    expect((await both.given.withResponse()).response.status).toBe(200)
    expect(both.told).toMatchObject([{ data: answer }])
    const failing = ask(500)
    await expect(failing.given).rejects.toThrow('500')
    expect(failing.told).toEqual([{ error: expect.stringContaining('500') as unknown }])
  })

  const begin = () => clientOf(streamed).chat.completions.create({ ...question, stream: true })
  test.each([
    ['', begin],
    [', from an async function', async () => begin()],
  ])('its stream%s, read and divided', async (_name, work) => {
    const read = followed(work())
    expect(await Array.fromAsync(await read.given)).toEqual(parts)
    expect(read.told).toMatchObject([said])
    const divided = followed(work())
    const [left, right] = (await divided.given).tee()
    expect([await Array.fromAsync(left), await Array.fromAsync(right)]).toEqual([parts, parts])
    expect(divided.told).toMatchObject([said])
  })

  test('a stream that several calls return', async () => {
    const stream = await begin()
    const calls = Array.from({ length: 20_000 }, () => followed(stream))
    expect(await Array.fromAsync(stream)).toEqual(parts)
    expect(new Set(calls.map(({ told }) => JSON.stringify(told))).size).toBe(1)
    expect(calls[0]?.told).toMatchObject([said])
  })
})

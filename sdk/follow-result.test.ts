import { describe, expect, test } from '@jest/globals'
import OpenAI from 'openai'
import { plainValue } from './capturing/plain-value.ts'
import { followResult, type Span } from './follow-result.ts'

/** What the program gets, and what the span is told first, as JSON. */
function followed<T>(result: T): { given: T; told: unknown[] } {
  const told: unknown[] = []
  const tell = (what: unknown) => {
    if (told.length === 0) told.push(plainValue(what))
  }
  const span: Span = {
    end: (output) => {
      tell(output())
    },
    fail: (error) => {
      tell({ error: String(error) })
    },
  }
  return { given: followResult(result, span, (work) => work()) as T, told }
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
    expect(raw.told).toEqual([{}])
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
    expect(read.told).toEqual([{ yielded: parts }])
    const divided = followed(work())
    const [left, right] = (await divided.given).tee()
    expect([await Array.fromAsync(left), await Array.fromAsync(right)]).toEqual([parts, parts])
    expect(divided.told).toEqual([{ yielded: parts }])
  })
})

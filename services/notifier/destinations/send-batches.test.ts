import { describe, expect, test } from '@jest/globals'
import { systemClock } from '#runtime/clock.ts'
import { arrayBatch, bulkBatch, bulkLines, splunkBatch, type BatchFormat } from './batch-formats.ts'
import type { Rendered } from './rendered.ts'
import { batchBounds, createSendInBatch } from './send-batches.ts'
import type { HttpAnswer } from './send-http.ts'

const url = 'https://siem.example/'
const answer = (
  status: number | null,
  body: object = {},
  retryAfterMs: number | null = null,
): HttpAnswer => ({
  ...{ status, error: status === null ? 'no answer' : null, timedOut: false, retryAfterMs },
  body: Buffer.from(JSON.stringify(body)),
})

/** Sends `names` at once to a receiver with these answers. Returns what it got, and what each was told. */
async function sendAll(
  format: BatchFormat,
  names: readonly string[],
  answers: readonly HttpAnswer[],
  clock = systemClock,
) {
  const got: string[] = []
  const send = createSendInBatch(({ body }: Rendered) => {
    got.push(body.toString())
    return Promise.resolve(answers[got.length - 1] ?? answer(200, { code: 0 }))
  }, clock)
  const told = await Promise.all(
    names.map((name) => send('key', format, { url, headers: {}, body: Buffer.from(name) })),
  )
  return { got, statuses: told.map(({ status }) => status), told }
}

const five = ['a', 'b', 'c', 'd', 'e']

describe("Splunk's collector", () => {
  test('takes events that are due together in one request', async () => {
    const { got, statuses } = await sendAll(splunkBatch, five, [answer(200, { code: 0 })])
    expect([got, statuses]).toEqual([['abcde'], [200, 200, 200, 200, 200]])
  })

  test.each([6, 7, 12, 13, 15])(
    'refuses one with code %d: those before it are taken, those after it sent again',
    async (code) => {
      const refusal = answer(400, { code, 'invalid-event-number': 2 })
      const { got, statuses } = await sendAll(splunkBatch, five, [refusal, answer(200, { code: 0 })])
      expect([got, statuses]).toEqual([
        ['abcde', 'de'],
        [200, 200, 400, 200, 200],
      ])
    },
  )

  test('is busy: what it had not read fails with its Retry-After, and only that', async () => {
    const busy = answer(503, { code: 9, 'invalid-event-number': 3 }, 5_000)
    const { got, statuses, told } = await sendAll(splunkBatch, five, [busy])
    expect([got, statuses]).toEqual([['abcde'], [200, 200, 200, 503, 503]])
    expect(told.map(({ retryAfterMs }) => retryAfterMs)).toEqual([null, null, null, 5_000, 5_000])
  })

  test.each([
    ['429 without a number', answer(429, { code: 26 }, 1_000)],
    ['a number past the end', answer(400, { code: 6, 'invalid-event-number': 5 })],
    ['no JSON', { ...answer(503), body: Buffer.from('<html>') }],
    ['no answer', answer(null)],
  ])('%s is the answer for all', async (_name, whole) => {
    const { got, told } = await sendAll(splunkBatch, five, [whole])
    expect([got, told]).toEqual([['abcde'], five.map(() => whole)])
  })

  test('refuses each event: each is refused, with one request each', async () => {
    const refusals = five.map(() => answer(400, { code: 6, 'invalid-event-number': 0 }))
    const { got, statuses } = await sendAll(splunkBatch, five, refusals)
    expect([got, statuses]).toEqual([['abcde', 'bcde', 'cde', 'de', 'e'], five.map(() => 400)])
  })

  test('is slow to refuse: the rest fails before its claims end, and is not told to be refused', async () => {
    let nowMs = 0
    const clock = { ...systemClock, now: () => (nowMs += 2_500) }
    const refusal = answer(400, { code: 6, 'invalid-event-number': 0 })
    const { got, statuses } = await sendAll(splunkBatch, ['a', 'b', 'c'], [refusal, refusal], clock)
    expect(got).toEqual(['abc'])
    expect(statuses).toEqual([400, null, null])
  })
})

describe('the bulk API', () => {
  const lines = five.map((name) => bulkLines(name, Buffer.from(JSON.stringify({ name }))).toString())
  const items = (...statuses: number[]) =>
    answer(200, { items: statuses.map((status) => ({ create: { status } })) })

  test('says of each event what became of it; one that it had before is taken', async () => {
    const { got, statuses } = await sendAll(bulkBatch, lines, [items(201, 429, 409, 400, 201)])
    expect(got).toEqual([lines.join('')])
    expect(statuses).toEqual([201, 429, 200, 400, 201])
  })

  test('says nothing of some: these are not taken', async () => {
    const { statuses } = await sendAll(bulkBatch, lines, [items(201, 201)])
    expect(statuses).toEqual([201, 201, null, null, null])
  })

  test.each([[503], [413]])('%d is the answer for all', async (status) => {
    expect((await sendAll(bulkBatch, lines, [answer(status)])).statuses).toEqual(five.map(() => status))
  })
})

test('an array is one JSON value', async () => {
  const { got } = await sendAll(arrayBatch, ['1', '{"a":2}'], [])
  expect(got.map((body) => JSON.parse(body) as unknown)).toEqual([[1, { a: 2 }]])
})

test('a request stays within its bounds of events and of bytes, and a larger event goes alone', async () => {
  const many = Array.from({ length: batchBounds.items + 1 }, () => 'x')
  const half = 'y'.repeat(batchBounds.bytes / 2)
  const large = 'z'.repeat(batchBounds.bytes + 1)
  const lengths = async (names: string[]) =>
    (await sendAll(splunkBatch, names, [])).got.map(({ length }) => length)
  expect(await lengths(many)).toEqual([batchBounds.items, 1])
  expect(await lengths([half, half, 'x'])).toEqual([batchBounds.bytes, 1])
  expect(await lengths(['x', large, 'x'])).toEqual([1, large.length, 1])
})

test('destinations do not share requests', async () => {
  const got: string[] = []
  const send = createSendInBatch(({ body }) => {
    got.push(body.toString())
    return Promise.resolve(answer(200))
  }, systemClock)
  const rendered = (name: string) => ({ url, headers: {}, body: Buffer.from(name) })
  await Promise.all(['a', 'b', 'a'].map((name) => send(name, splunkBatch, rendered(name))))
  expect(got.toSorted()).toEqual(['aa', 'b'])
})

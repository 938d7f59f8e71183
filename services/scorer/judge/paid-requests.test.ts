import { expect, test } from '@jest/globals'
import { createLog } from '#runtime/log.ts'
import { createMetrics } from '#runtime/metrics.ts'
import { createScorerMetrics } from '../scorer-metrics.ts'
import type { JudgeBudget } from '../stores/judge-budget.ts'
import { JudgeError } from './judge-error.ts'
import { createPaidRequests, type AskModel, type ModelReply } from './paid-requests.ts'
import type { Lane } from './wait-queue.ts'

const hourMs = 3_600_000
const prompt = { system: 's', user: 'u', schema: {}, answerTokens: 10 }
const reply: ModelReply = { text: '{}', promptTokens: 1, cachedTokens: 0, completionTokens: 1 }
/** One token per byte, ten of the answer, and 200 of framing. */
const maxUsd = (Buffer.byteLength('su{}') + 10 + 200) / 1_000_000
const never = new AbortController().signal

/** A budget that accepts everything. */
const reserve: JudgeBudget['reserve'] = () =>
  Promise.resolve({ kind: 'reserved', settle: () => Promise.resolve() })

/** The first request gets a 5 s Retry-After or the given error; later ones succeed. */
function asked(
  budget: JudgeBudget = { reserve },
  error = new JudgeError('too many', { status: 429, retryAfterMs: 5_000 }),
  {
    answer = reply,
    tokensPerMinute = null as number | null,
    ask = undefined as AskModel | undefined,
    concurrency = 1,
  } = {},
) {
  const time = { nowMs: hourMs, sleptMs: [] as number[] }
  let asks = 0
  const requests = createPaidRequests({
    ask:
      ask ??
      (() => {
        asks++
        return asks === 1 ? Promise.reject(error) : Promise.resolve(answer)
      }),
    model: 'a-model',
    price: { input: 1, cachedInput: 1, output: 1 },
    budget,
    concurrency,
    requestsPerMinute: null,
    tokensPerMinute,
    metrics: createScorerMetrics(createMetrics()),
    log: createLog('test', 'silent'),
    clock: {
      now: () => time.nowMs,
      sleep: (delayMs) => {
        time.sleptMs.push(delayMs)
        time.nowMs += delayMs
        return Promise.resolve()
      },
    },
  })
  const send = (lane: Lane = 'live', projectId = `of ${lane}`) =>
    requests.send({ projectId, scorers: [], prompt, lane }, never)
  return { time, send, stop: () => requests.stop() }
}

test.each([
  ['is waited for', 0, [5_000]],
  ['is over when the clock is set back by an hour', hourMs, []],
])('the pause that a provider asks for %s', async (_name, setBackMs, slept) => {
  const { time, send, stop } = asked()
  expect(await send()).toMatchObject({ kind: 'failed' })
  time.nowMs -= setBackMs
  expect(await send()).toMatchObject({ kind: 'answered' })
  expect(time.sleptMs).toEqual(slept)
  stop()
})

test.each([
  ['was refused costs nothing', { status: 503 }, 0],
  ['gave no answer may have been worked on, and costs what it can at most', {}, maxUsd],
])('a request that %s', async (_name, details, usd) => {
  const settled: number[] = []
  const settle = (spend: { usd: number }) => Promise.resolve(void settled.push(spend.usd))
  const book: JudgeBudget = { reserve: () => Promise.resolve({ kind: 'reserved', settle }) }
  const { send, stop } = asked(book, new JudgeError('trouble', details))
  await send()
  expect(settled).toEqual([usd])
  stop()
})

test('an answer of which not all tokens were counted costs what it can at most', async () => {
  const settled: number[] = []
  const settle = (spend: { usd: number }) => Promise.resolve(void settled.push(spend.usd))
  const book: JudgeBudget = { reserve: () => Promise.resolve({ kind: 'reserved', settle }) }
  for (const uncounted of [{ promptTokens: null }, { completionTokens: null }]) {
    const { send, stop } = asked(book, new JudgeError('away', { status: 503 }), {
      answer: { ...reply, ...uncounted },
    })
    for (let time = 0; time < 2; time++) await send()
    stop()
  }
  expect(settled).toEqual([0, maxUsd, 0, maxUsd])
})

test('what a request did not use of the rate of tokens is there for the next', async () => {
  const { time, send, stop } = asked({ reserve }, new JudgeError('away', { status: 503 }), {
    tokensPerMinute: 60,
  })
  for (let request = 0; request < 3; request++) await send()
  expect(time.sleptMs).toEqual([])
  stop()
})

test('a request is over once the book has what it cost, and fails when the book cannot be written', async () => {
  const written = Promise.withResolvers<undefined>()
  const settle = () => written.promise
  const { send, stop } = asked({ reserve: () => Promise.resolve({ kind: 'reserved', settle }) })
  let isOver = false
  const sending = send().finally(() => (isOver = true))
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve))
  expect(isOver).toBe(false)
  written.reject(new Error('the book is away'))
  await expect(sending).rejects.toThrow('the book is away')
  stop()
})

test('however many replays wait for the book, a live request comes as far', async () => {
  const book = Promise.withResolvers<undefined>()
  const asking: string[] = []
  const { send, stop } = asked({
    reserve: async (projectId, ...rest) => {
      asking.push(projectId)
      await book.promise
      return reserve(projectId, ...rest)
    },
  })
  const sending = (['replay', 'replay', 'live'] as const).map((lane) => send(lane))
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve))
  expect(asking.toSorted()).toEqual(['of live', 'of replay'])
  book.resolve(undefined)
  await Promise.all(sending)
  stop()
})

test('a project that asks for much keeps the first request of another waiting for one of its own', async () => {
  const books: PromiseWithResolvers<undefined>[] = []
  const asking: string[] = []
  const { send, stop } = asked({
    reserve: async (projectId, ...rest) => {
      asking.push(projectId)
      const book = Promise.withResolvers<undefined>()
      books.push(book)
      await book.promise
      return reserve(projectId, ...rest)
    },
  })
  const sending = [...Array.from({ length: 6 }, () => send('live', 'a')), send('live', 'b')]
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve))
  expect(asking).toEqual(['a', 'a'])
  books[0]?.resolve(undefined)
  await Promise.race(sending)
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve))
  expect(asking).toEqual(['a', 'a', 'b'])
  const released = Promise.all(sending)
  for (let next = 1; next < sending.length; next++) {
    while (books[next] === undefined) await new Promise((resolve) => setImmediate(resolve))
    books[next]?.resolve(undefined)
  }
  await released
  stop()
})

test('whose cost is set aside is asked in that order, replays too: it is set aside for two requests of the model', async () => {
  const settled: string[] = []
  const settle = (projectId: string) => Promise.resolve(void settled.push(projectId))
  const book: JudgeBudget = {
    reserve: (projectId) => Promise.resolve({ kind: 'reserved', settle: () => settle(projectId) }),
  }
  const answers: (() => void)[] = []
  const ask = () => new Promise<ModelReply>((resolve) => answers.push(() => resolve(reply)))
  const { send, stop } = asked(book, undefined, { ask, concurrency: 3 })
  const nextTick = async () => {
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve))
  }
  const sending = ['a', 'b', 'c'].map((name) => send('live', name))
  await nextTick()
  for (const name of ['r1', 'r2', 'r3']) sending.push(send('replay', name))
  await nextTick()
  for (let later = 1; later <= 6; later++) sending.push(send('live', `later ${later}`))
  for (let answered = 0; answered < sending.length; answered++) {
    await nextTick()
    answers[answered]?.()
  }
  await Promise.all(sending)
  expect(settled.slice(0, 6)).toEqual(['a', 'b', 'c', 'r1', 'r2', 'r3'])
  stop()
})

import { expect, test } from '@jest/globals'
import { createLog } from '#runtime/log.ts'
import { createMetrics } from '#runtime/metrics.ts'
import { createScorerMetrics } from '../scorer-metrics.ts'
import { JudgeTrouble } from './judge-trouble.ts'
import { createPaidRequests } from './paid-requests.ts'

const hourMs = 3_600_000
const prompt = { system: 's', user: 'u', schema: {}, answerTokens: 10 }
const reply = { text: '{}', promptTokens: 1, cachedTokens: 0, completionTokens: 1 }
const never = new AbortController().signal

/** The provider asks the first one to wait 5 s; then it answers. */
function asked() {
  const time = { nowMs: hourMs, sleptMs: [] as number[] }
  let asks = 0
  const requests = createPaidRequests({
    ask: () => {
      asks++
      return asks === 1
        ? Promise.reject(new JudgeTrouble('too many', { status: 429, retryAfterMs: 5_000 }))
        : Promise.resolve(reply)
    },
    model: 'a-model',
    price: null,
    budget: { reserve: () => Promise.resolve({ kind: 'reserved', settle: () => Promise.resolve() }) },
    concurrency: 1,
    requestsPerMinute: null,
    tokensPerMinute: null,
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
  const send = () => requests.send({ projectId: 'p', scorers: [], prompt, lane: 'live' }, never)
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

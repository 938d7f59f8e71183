import { afterEach, expect, test } from '@jest/globals'
import type { Clock } from '#runtime/clock.ts'
import { createLog } from '#runtime/log.ts'
import { createMetrics } from '#runtime/metrics.ts'
import { ok } from '#runtime/outcome.ts'
import type { Service } from '#runtime/service.ts'
import { newId } from '#schemas/ids.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'
import { EndpointLimiter } from '../limits/endpoint-limiter.ts'
import { decided, type DueEnd } from '../delivery/attempt-due.ts'
import { createNotifierMetrics } from '../notifier-metrics.ts'
import { webhookDelivery } from '../testing/sample-records.ts'
import { WaitingPump, type PumpDependencies } from './waiting-pump.ts'

let pump: Service | undefined
let endAll: () => void = () => undefined
afterEach(async () => {
  endAll()
  await pump?.stop()
})

/** A pump over what waits in memory, with time that passes when it is told to. */
function startPump(
  waiting: WebhookDelivery[],
  quick: readonly string[],
  { isKnown = true, answers = false, total = 1_024 } = {},
) {
  const limiter = new EndpointLimiter({ perEndpoint: 64, total })
  for (const { webhook_id: id } of isKnown ? waiting : []) limiter.note(id, !quick.includes(id))
  const begun: WebhookDelivery[] = []
  const ends: ((end: DueEnd) => void)[] = []
  const time = { nowMs: 0, rounds: 0 }
  const clock: Clock = {
    now: () => time.nowMs,
    sleep: async (delayMs) => {
      time.nowMs += delayMs
      await new Promise((resolve) => setImmediate(resolve))
    },
  }
  const store: PumpDependencies['waiting'] = {
    add: () => Promise.reject(new Error('nothing is added')),
    // As the statement deals: what is not listed has one place.
    take: ({ permits, maxSlow }) => {
      time.rounds++
      const listed = new Map(permits.endpoints.map((one) => [one.webhookId, { ...one }]))
      let slowLeft = maxSlow
      const taken = waiting.filter(({ webhook_id: webhookId }) => {
        const endpoint = listed.get(webhookId) ?? { webhookId, kind: 'unknown' as const, permits: 1 }
        if (endpoint.permits === 0 || (endpoint.kind === 'slow' && slowLeft === 0)) return false
        listed.set(webhookId, { ...endpoint, permits: endpoint.permits - 1 })
        if (endpoint.kind === 'slow') slowLeft--
        return true
      })
      for (const one of taken) waiting.splice(waiting.indexOf(one), 1)
      return Promise.resolve(taken)
    },
    remove: () => Promise.resolve(undefined),
    putBack: (delivery) => Promise.resolve(void waiting.push(delivery)),
  }
  pump = new WaitingPump({
    attemptDue: (delivery, release) => {
      begun.push(delivery)
      if (!answers) return new Promise<DueEnd>((resolve) => ends.push(resolve)).finally(release)
      release()
      limiter.note(delivery.webhook_id, false)
      return Promise.resolve(decided(ok()))
    },
    giveUp: () => Promise.reject(new Error('nothing is given up')),
    limiter,
    waiting: store,
    metrics: createNotifierMetrics(createMetrics()),
    log: createLog('test', 'silent'),
    clock,
  })
  endAll = () => {
    for (const end of ends.splice(0)) end(decided(ok()))
  }
  const untilMs = async (atMs: number) => {
    while (time.nowMs < atMs) await new Promise((resolve) => setImmediate(resolve))
  }
  void pump.start()
  return { limiter, begun, untilMs, time }
}

/** Of so many webhooks, each of a project of its own. */
function waitingAt(webhooks: number, each: number): WebhookDelivery[] {
  return Array.from({ length: webhooks }, () => newId('webhook')).flatMap((webhook_id) => {
    const project_id = newId('project')
    return Array.from({ length: each }, () => webhookDelivery({ webhook_id, project_id }))
  })
}

test('attempts at slow endpoints begin bit by bit, ten rounds a second; those at quick ones at once', async () => {
  const [slow, quick] = [waitingAt(20, 20), waitingAt(10, 10)]
  const { begun, untilMs, time } = startPump(
    [...slow, ...quick],
    [...new Set(quick.map((one) => one.webhook_id))],
  )
  await untilMs(200)
  const begunAt = (all: readonly WebhookDelivery[]) => begun.filter((one) => all.includes(one)).length
  expect(begunAt(quick)).toBe(100)
  expect(begunAt(slow)).toBeLessThan(30)
  const { rounds } = time
  await untilMs(4_200)
  // 512 in 9 s: with all at once, all would end at once ten seconds later.
  expect(begunAt(slow)).toBeGreaterThan(220)
  expect(begunAt(slow)).toBeLessThan(300)
  expect(time.rounds - rounds).toBeLessThanOrEqual(41)
})

test('what waits for an endpoint that turns out to be quick does not wait for rounds', async () => {
  const waiting = waitingAt(1, 500)
  const { begun, limiter, untilMs, time } = startPump(waiting, [], { isKnown: false, answers: true })
  await untilMs(1_000)
  expect(limiter.kindOf(begun[0]?.webhook_id ?? '')).toBe('quick')
  expect(begun).toHaveLength(500)
  expect(time.nowMs).toBeLessThan(2_000)
})

test('the least of all configurations makes attempts at slow endpoints one after the other', async () => {
  const { begun, untilMs, time } = startPump(waitingAt(3, 10), [], { total: 1 })
  while (begun.length < 30 && time.nowMs < 600_000) {
    await untilMs(time.nowMs + 100)
    endAll()
  }
  expect(begun).toHaveLength(30)
})

test('where a slow endpoint answers, the next attempt begins in the next round', async () => {
  const { begun, untilMs, time } = startPump(waitingAt(20, 20), [])
  while (begun.length < 400 && time.nowMs < 8_000) {
    await untilMs(time.nowMs + 100)
    endAll()
  }
  expect(begun).toHaveLength(400)
  expect(time.nowMs).toBeLessThan(5_000)
})

test('what comes from topics stays behind what waits, also where others were all that might begin', async () => {
  const waiting = waitingAt(2, 100)
  const [first, last] = [waiting[0], waiting[199]] as [WebhookDelivery, WebhookDelivery]
  const { limiter, begun, untilMs } = startPump(waiting, [])
  limiter.holdBack(first)
  limiter.holdBack(last)
  await untilMs(500)
  expect(begun.some(({ webhook_id: id }) => id === last.webhook_id)).toBe(false)
  expect(limiter.heldBack().map(({ webhook_id: id }) => id)).toEqual([first.webhook_id, last.webhook_id])
})

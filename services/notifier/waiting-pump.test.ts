import { afterEach, expect, test } from '@jest/globals'
import type { Clock } from '#runtime/clock.ts'
import { createLog } from '#runtime/log.ts'
import { createMetrics } from '#runtime/metrics.ts'
import { ok } from '#runtime/outcome.ts'
import type { Service } from '#runtime/service.ts'
import { newId } from '#schemas/ids.ts'
import type { WebhookDelivery } from '#schemas/webhook-delivery.ts'
import { createEndpointSlots } from './endpoint-slots.ts'
import { decided, type AttemptEnd } from './make-attempt.ts'
import { createNotifierMetrics } from './notifier-metrics.ts'
import { webhookDelivery } from './testing/sample-records.ts'
import { createWaitingPump, type PumpDependencies } from './waiting-pump.ts'

let pump: Service | undefined
let endAll: () => void = () => undefined
afterEach(async () => {
  endAll()
  await pump?.stop()
})

/** A pump over what waits in memory, with time that passes when it is told to. */
function startPump(waiting: WebhookDelivery[], quick: readonly string[]) {
  const slots = createEndpointSlots({ perEndpoint: 64, total: 1_024 })
  for (const { webhook_id: id } of waiting) slots.note(id, !quick.includes(id))
  const begun: WebhookDelivery[] = []
  const ends: ((end: AttemptEnd) => void)[] = []
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
    take: ({ mostSlow }) => {
      time.rounds++
      let slow = 0
      const taken = waiting.filter(({ webhook_id: id }) => slots.kindOf(id) !== 'slow' || ++slow <= mostSlow)
      for (const one of taken) waiting.splice(waiting.indexOf(one), 1)
      return Promise.resolve(taken)
    },
    remove: () => Promise.resolve(undefined),
    putBack: (delivery) => Promise.resolve(void waiting.push(delivery)),
  }
  pump = createWaitingPump({
    attempt: (delivery) => {
      begun.push(delivery)
      return new Promise((resolve) => ends.push(resolve))
    },
    giveUp: () => Promise.reject(new Error('nothing is given up')),
    slots,
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
  return { slots, begun, untilMs, time }
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
  // 512 in 8 s: with all at once, all would end at once ten seconds later.
  expect(begunAt(slow)).toBeGreaterThan(220)
  expect(begunAt(slow)).toBeLessThan(300)
  expect(time.rounds - rounds).toBeLessThanOrEqual(41)
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
  const { slots, begun, untilMs } = startPump(waiting, [])
  slots.holdBack(first)
  slots.holdBack(last)
  await untilMs(500)
  expect(begun.some(({ webhook_id: id }) => id === last.webhook_id)).toBe(false)
  expect(slots.heldBack().map(({ webhook_id: id }) => id)).toEqual([first.webhook_id, last.webhook_id])
})

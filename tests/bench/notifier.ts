import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { Agent, request } from 'undici'
import { freePorts } from '#infra/embedded/free-port.ts'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import { buildEnvelope } from '#services/notifier/steps/build-envelope.ts'
import { joinEventData } from '#services/notifier/steps/join-event-data.ts'
import { signDelivery, signingKeyOf } from '#services/notifier/steps/sign-delivery.ts'
import { setNotifierStage } from '#services/notifier/testing/notifier-stage.ts'
import { raisedEvent, webhookDelivery } from '#services/notifier/testing/sample-records.ts'
import { cpuOfTree } from '../support/bench-process.ts'
import { openBenchmark, printFigures, ratio } from '../support/benchmark.ts'
import { startCountingReceiver, type Receipts } from '../support/counting-receiver.ts'
import { startServiceProcess } from '../support/service-process.ts'
import { until } from '../support/until.ts'

/**
 * Deliveries per second from a topic of events to a fast receiver, against bare undici POSTs of the same bytes; time from event
 * to receipt at healthy endpoints while others hang; and how much later than their delay retries come, by the receiver's clock.
 */
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    deliveries: { type: 'string', default: '6000' },
    only: { type: 'string' },
  },
})
const seconds = Number(values.seconds)
const deliveries = Number(values.deliveries)
const endpoints = 100
const eventsPerSecond = 200
const bareConcurrency = 64

const closeInfrastructure = await openBenchmark()
const stage = await setNotifierStage()
const receiver = await startCountingReceiver()
const directory = await mkdtemp(join(tmpdir(), 'sluice-bench-notifier-'))
const [operationsPort] = (await freePorts(1)) as [number]
const notifier = await startServiceProcess({
  name: 'notifier',
  environment: { ...stage.environment, NODE_OPTIONS: process.env['BENCH_NODE_OPTIONS'] ?? '' },
  operationsPort,
  logFile: join(directory, 'notifier.log'),
})
try {
  const targets = await addTargets()
  // The compiler of a young process is a third of its work: a few thousand make it an old one.
  await raiseAll(targets, 3_000)
  await receiver.take()
  const throughput = await measureThroughput(targets)
  const p99s = new Map<number, number>()
  for (const count of values.only === 'throughput' ? [] : [0, 1, 10, 50])
    p99s.set(count, await measureHealthyP99(targets, count))
  const lateness = values.only === 'throughput' ? {} : await measureRetries(targets)
  printFigures('notifier', {
    ...throughput,
    ...Object.fromEntries([...p99s].map(([count, p99]) => [`healthy_p99_ms_${count}_hanging`, p99])),
    ...(p99s.size === 0
      ? {}
      : { healthy_p99_ratio_50_hanging: ratio(p99s.get(50) ?? NaN, p99s.get(0) ?? NaN) }),
    ...lateness,
  })
} finally {
  await notifier.stop()
  await receiver.close()
  await stage.close()
  await rm(directory, { recursive: true })
  await closeInfrastructure()
}

interface Target {
  projectId: string
  path: string
}

/** Each with a project of its own, so that one event is one delivery. */
async function addTargets(): Promise<Target[]> {
  const targets: Target[] = []
  for (let index = 0; index < endpoints; index++) {
    const projectId = await stage.addProject()
    const path = `/hook-${index}`
    await stage.addWebhook({ url: receiver.url + path, projectId })
    targets.push({ projectId, path })
  }
  return targets
}

function eventFor({ projectId }: Target): RaisedEvent {
  const fields = { severity: 'critical', scorer_name: 'pii_detection', prompt_snippet: 'words '.repeat(60) }
  return raisedEvent({ project_id: projectId, fields })
}

/** Raises them all at once; resolves when the last has been received. */
async function raiseAll(targets: readonly Target[], count: number): Promise<void> {
  const before = await receiver.count()
  const events = Array.from({ length: count }, (_, index) => eventFor(targets[index % endpoints] as Target))
  await stage.raise(...events)
  await untilReceived(before + count)
}

async function untilReceived(count: number): Promise<void> {
  await until(
    async () => (await receiver.count()) >= count,
    120_000,
    async () => `${await receiver.count()} of ${count} received`,
  )
}

async function measureThroughput(targets: readonly Target[]): Promise<Record<string, number>> {
  const rates = { notifier: [] as number[], undici: [] as number[] }
  const rounds = 3
  let cpuMicroseconds = 0
  // In turns, and the medians: what else the machine does is then shared by both.
  for (let round = 0; round < rounds; round++) {
    await postAll(targets)
    rates.undici.push(rateOf(await receiver.take()))
    const cpuBefore = cpuOfTree(notifier.pid())
    await raiseAll(targets, deliveries)
    cpuMicroseconds += cpuOfTree(notifier.pid()) - cpuBefore
    rates.notifier.push(rateOf(await receiver.take()))
  }
  const [own, bare] = [median(rates.notifier), median(rates.undici)]
  console.table({ 'bare undici': { 'deliveries/s': bare }, notifier: { 'deliveries/s': own } })
  const cpuUs = Math.round(cpuMicroseconds / (rounds * deliveries))
  return { undici_ratio: ratio(own, bare), deliveries_per_s: own, cpu_us_per_delivery: cpuUs }
}

/** The floor: the same bytes and headers by undici alone. */
async function postAll(targets: readonly Target[]): Promise<void> {
  const agent = new Agent({ pipelining: 1 })
  const posts = Array.from({ length: deliveries }, (_, index) => {
    const target = targets[index % endpoints] as Target
    const event = eventFor(target)
    const body = buildEnvelope(event, joinEventData(event.event, event.data, null))
    const keys = { current: signingKeyOf('whsec_c2VjcmV0'), previous: null }
    return {
      url: receiver.url + target.path,
      body,
      headers: signDelivery(webhookDelivery({ event }), body, keys, Date.now()),
    }
  })
  const post = async () => {
    for (let next = posts.pop(); next !== undefined; next = posts.pop()) {
      const { url, ...rest } = next
      const answer = await request(url, { dispatcher: agent, method: 'POST', ...rest })
      await answer.body.dump()
    }
  }
  await Promise.all(Array.from({ length: bareConcurrency }, post))
  await agent.close()
}

function rateOf({ count, firstAtMs, lastAtMs }: Receipts): number {
  return Math.round(((count - 1) / ((lastAtMs ?? NaN) - (firstAtMs ?? NaN))) * 1_000)
}

async function measureHealthyP99(targets: readonly Target[], hanging: number): Promise<number> {
  receiver.behave({ hanging: targets.slice(0, hanging).map(({ path }) => path) })
  // Long enough for the endpoints that hang to fill whatever they are given.
  await untilReceived(await raiseAtRate(targets, 5, hanging))
  await receiver.take()
  const expected = await raiseAtRate(targets, seconds, hanging)
  // However late: one that never comes fails the benchmark, and one that comes late is in its p99.
  await untilReceived(expected)
  const { latenciesMs } = await receiver.take()
  latenciesMs.sort((a, b) => a - b)
  const [p50, p99] = [quantile(latenciesMs, 0.5), quantile(latenciesMs, 0.99)]
  console.table({
    [`${hanging} of ${endpoints} hang`]: {
      'p50 ms': p50,
      'p99 ms': p99,
      received: latenciesMs.length,
      expected,
    },
  })
  receiver.behave({})
  await until(async () => (await stage.waiting()) === 0, 120_000)
  await sleep(8_000)
  await receiver.take()
  return p99
}

/** Returns how many of them are for endpoints that do not hang, which are all but the first `hanging`. */
async function raiseAtRate(targets: readonly Target[], forSeconds: number, hanging: number): Promise<number> {
  const everyMs = 50
  const each = (eventsPerSecond * everyMs) / 1_000
  const startedAt = performance.now()
  const raised: Promise<void>[] = []
  let healthy = 0
  for (let tick = 0; tick < (forSeconds * 1_000) / everyMs; tick++) {
    await sleep(Math.max(0, startedAt + tick * everyMs - performance.now()))
    const indexes = Array.from({ length: each }, (_, index) => (tick * each + index) % endpoints)
    healthy += indexes.filter((index) => index >= hanging).length
    raised.push(stage.raise(...indexes.map((index) => eventFor(targets[index] as Target))))
  }
  await Promise.all(raised)
  return healthy
}

/** How much later than its delay each retry comes: a figure, for what a machine has to spare decides it. */
async function measureRetries(targets: readonly Target[]): Promise<Record<string, number>> {
  const delaysMs = [1_000, 2_000, 4_000]
  receiver.behave({ failing: targets.map(({ path }) => path) })
  await stage.raise(...targets.map(eventFor))
  await sleep(12_000)
  const { refused } = await receiver.take()
  const late = delaysMs.map((): number[] => [])
  for (const attempts of Map.groupBy(refused, ({ id }) => id).values()) {
    for (const [index, delayMs] of delaysMs.entries()) {
      const [before, after] = [attempts[index], attempts[index + 1]]
      late[index]?.push(
        before === undefined || after === undefined
          ? NaN
          : after.receivedAtMs - before.answeredAtMs - delayMs,
      )
    }
  }
  console.table(
    Object.fromEntries(
      late.map((all, index) => [
        `retry after ${delaysMs[index]} ms`,
        { 'least ms late': Math.min(...all), 'most ms late': Math.max(...all), retries: all.length },
      ]),
    ),
  )
  const all = late.flat()
  return {
    retry_late_ms_least: Math.round(Math.min(...all)),
    retry_late_ms_most: Math.round(Math.max(...all)),
  }
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[numbers.length >> 1] ?? NaN
}

function quantile(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? NaN
}

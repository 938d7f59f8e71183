import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { notifierNodeOptions } from '#infra/node-options.ts'
import { freePorts } from '#infra/embedded/free-port.ts'
import type { RaisedEvent } from '#schemas/event-raised.ts'
import { setNotifierStage } from '#services/notifier/testing/notifier-stage.ts'
import { raisedEvent } from '#services/notifier/testing/sample-records.ts'
import { postBare, prepareBarePost, type BarePost } from '../support/bare-deliveries.ts'
import { openBenchmark, printFigures, ratio } from '../support/benchmark.ts'
import { startCountingReceiver, type Receipts } from '../support/counting-receiver.ts'
import { createCpuMeter, mapParts, type CpuParts } from '../support/cpu-parts.ts'
import { startServiceProcess } from '../support/service-process.ts'
import { until } from '../support/until.ts'

/**
 * Deliveries per second from a topic of events to a fast receiver, against bare undici POSTs of the same bytes; time from event
 * to receipt at healthy endpoints while others hang; and how much later than their delay retries come, by the receiver's clock.
 *
 * Both rates are from the first receipt to the last, of senders that are warm: the notifier's from events that stand in their topic
 * (fanned out, written, claimed, signed, sent, finished), the bare one's from posts that stand signed in memory.
 */
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    deliveries: { type: 'string', default: '20000' },
    only: { type: 'string' },
  },
})
const seconds = Number(values.seconds)
const deliveries = Number(values.deliveries)
const endpoints = 100
const eventsPerSecond = 200
const bareConcurrency = 64
/** The compiler of a young process is a third of its work: bare posts are 11,000/s at first and 18,000/s after so many. */
const warmingDeliveries = 20_000
const maxLateMs = 1_000

const closeInfrastructure = await openBenchmark()
const stage = await setNotifierStage()
const receiver = await startCountingReceiver()
const directory = await mkdtemp(join(tmpdir(), 'sluice-bench-notifier-'))
const [operationsPort] = (await freePorts(1)) as [number]
const notifier = await startServiceProcess({
  name: 'notifier',
  environment: {
    ...stage.environment,
    NODE_OPTIONS: `${notifierNodeOptions} ${process.env['BENCH_NODE_OPTIONS'] ?? ''}`,
  },
  operationsPort,
  logFile: join(directory, 'notifier.log'),
})
const meter = createCpuMeter({
  servicePid: notifier.pid,
  applicationName: 'sluice-notifier',
  pool: stage.pool,
  receiver,
})
try {
  const targets = await addTargets()
  await raiseAll(targets, warmingDeliveries)
  await postBare(barePosts(targets, warmingDeliveries), bareConcurrency)
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

function eventsFor(targets: readonly Target[], count: number): { path: string; event: RaisedEvent }[] {
  return Array.from({ length: count }, (_, index) => {
    const target = targets[index % endpoints] as Target
    return { path: target.path, event: eventFor(target) }
  })
}

function barePosts(targets: readonly Target[], count: number): BarePost[] {
  return eventsFor(targets, count).map(({ path, event }) => prepareBarePost(receiver.url + path, event))
}

/** Raises them all at once; resolves when the last has been received. */
async function raiseAll(targets: readonly Target[], count: number): Promise<void> {
  const before = await receiver.count()
  await stage.raise(...eventsFor(targets, count).map(({ event }) => event))
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
  const costs: { undici: CpuParts[]; notifier: CpuParts[] } = { undici: [], notifier: [] }
  // In turns, and the medians: what else the machine does is then shared by both.
  for (let round = 0; round < 3; round++) {
    const posts = barePosts(targets, deliveries)
    costs.undici.push(await costOf(() => postBare(posts, bareConcurrency)))
    rates.undici.push(rateOf(await receiver.take()))
    costs.notifier.push(await raiseWhileHeld(targets))
    rates.notifier.push(rateOf(await receiver.take()))
  }
  const [own, bare] = [median(rates.notifier), median(rates.undici)]
  const [ownCost, bareCost] = [medianCosts(costs.notifier), medianCosts(costs.undici)]
  console.table({ 'bare undici': { 'deliveries/s': bare }, notifier: { 'deliveries/s': own } })
  console.table({ 'bare undici, µs of processor': bareCost, 'notifier, µs of processor': ownCost })
  return {
    undici_ratio: ratio(own, bare),
    deliveries_per_s: own,
    cpu_us_per_delivery: ownCost.service,
    postgres_us_per_delivery: ownCost.postgres,
    undici_us_per_post: bareCost.sender,
  }
}

/** As the bare posts are made before the first is sent, the events stand in their topic before the notifier takes the first. */
async function raiseWhileHeld(targets: readonly Target[]): Promise<CpuParts> {
  const before = await receiver.count()
  process.kill(-notifier.pid(), 'SIGSTOP')
  try {
    await stage.raise(...eventsFor(targets, deliveries).map(({ event }) => event))
  } finally {
    process.kill(-notifier.pid(), 'SIGCONT')
  }
  return costOf(async () => {
    await untilReceived(before + deliveries)
    await until(allIsWritten)
  })
}

async function allIsWritten(): Promise<boolean> {
  const { rowCount } = await stage.pool.query(
    "select from webhook_deliveries where status = 'pending' limit 1",
  )
  return rowCount === 0
}

async function costOf(work: () => Promise<void>): Promise<CpuParts> {
  const before = await meter.read()
  await work()
  const after = await meter.read()
  return mapParts((part) => (after[part] - before[part]) / deliveries)
}

function medianCosts(costs: readonly CpuParts[]): CpuParts {
  return mapParts((part) => Math.round(median(costs.map((each) => each[part]))))
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

/** How much later than its delay each retry comes. Throws when one came early or more than a second late. */
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
  const [least, most] = [Math.min(...late.flat()), Math.max(...late.flat())]
  // NaN, of a retry that did not come, is neither.
  if (!(least >= 0 && most <= maxLateMs))
    throw new Error(`retries came ${least} to ${most} ms after their delays: 0 to ${maxLateMs} was expected`)
  return { retry_late_ms_least: Math.round(least), retry_late_ms_most: Math.round(most) }
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[numbers.length >> 1] ?? NaN
}

function quantile(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? NaN
}

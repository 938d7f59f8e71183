import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { services } from '#schemas/services.ts'
import { freePorts } from '#infra/embedded/free-port.ts'
import { createNotifierFixture } from '#services/notifier/testing/notifier-fixture.ts'
import { openBenchmark, printFigures, ratio } from '../support/benchmark.ts'
import { compareDeliveries } from '../support/compare-deliveries.ts'
import { startCountingReceiver } from '../support/counting-receiver.ts'
import { addTargets, eventFor, untilReceived, type Side, type Target } from '../support/delivery-targets.ts'
import { makeCertificate, type TestCertificate } from '../support/make-certificate.ts'
import { median, quantile } from '../support/quantile.ts'
import { startServiceProcess } from '../support/service-process.ts'
import { until } from '../support/until.ts'

/**
 * Deliveries per second from a topic of events to a fast receiver, against bare undici POSTs of the same
 * bytes; time from event to receipt at healthy endpoints while others hang; and the delay of retries beyond
 * their backoff, by the receiver's clock.
 *
 * The rates are measured over plain HTTP and over HTTPS (figures that end with `_https`), which webhooks use
 * (design section 10); all else over HTTPS, before 2026-11-23 over plain HTTP. Bare posts keep their
 * connections between rounds, as the notifier does; before that date they opened 64 per round. `undici_ratio`
 * is against undici at its best, 64 concurrent posts; `undici_ratio_as_many` against the notifier's own
 * concurrency. With `--answer-ms` receivers take about that long, like those on a network, and only the
 * latter is measured. `--only throughput` skips what follows the rates, `--only hanging` skips the rates.
 */
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    deliveries: { type: 'string', default: '20000' },
    only: { type: 'string' },
    'answer-ms': { type: 'string', default: '0' },
  },
})
const seconds = Number(values.seconds)
const deliveries = Number(values.deliveries)
const answerMs = Number(values['answer-ms'])
const endpoints = 100
const eventsPerSecond = 200
const maxLateMs = 1_000
const p99Rounds = 5

const closeInfrastructure = await openBenchmark()
const fixture = await createNotifierFixture()
const certificate = makeCertificate()
const [secure, plain] = [await addSide(certificate), await addSide(undefined)]
const { receiver, targets } = secure
const directory = await mkdtemp(join(tmpdir(), 'sluice-bench-notifier-'))
const [operationsPort] = (await freePorts(1)) as [number]
const notifier = await startServiceProcess({
  name: 'notifier',
  environment: {
    ...fixture.environment,
    WEBHOOK_CA: certificate.cert,
    NODE_OPTIONS: `${services.notifier.nodeOptions} ${process.env['BENCH_NODE_OPTIONS'] ?? ''}`,
  },
  operationsPort,
  logFile: join(directory, 'notifier.log'),
})
try {
  const hasRates = values.only !== 'hanging'
  const overTcp = hasRates ? await compareDeliveries(plain, notifier.pid, deliveries) : {}
  const overTls = hasRates ? Object.entries(await compareDeliveries(secure, notifier.pid, deliveries)) : []
  const p99s = await measureHealthyP99s(values.only === 'throughput' ? [] : [0, 1, 10, 50])
  const lateness = values.only === 'throughput' ? {} : await measureRetries()
  printFigures('notifier', {
    ...overTcp,
    ...Object.fromEntries(overTls.map(([name, figure]) => [`${name}_https`, figure])),
    ...Object.fromEntries([...p99s].map(([count, p99]) => [`healthy_p99_ms_${count}_hanging`, p99])),
    ...(p99s.size === 0
      ? {}
      : { healthy_p99_ratio_50_hanging: ratio(p99s.get(50) ?? NaN, p99s.get(0) ?? NaN) }),
    ...lateness,
  })
} finally {
  await notifier.stop()
  for (const side of [secure, plain]) await side.receiver.close()
  await fixture.close()
  await rm(directory, { recursive: true })
  await closeInfrastructure()
}

async function addSide(withCertificate: TestCertificate | undefined): Promise<Side> {
  const counting = await startCountingReceiver({ certificate: withCertificate, answerMs })
  const added = await addTargets(fixture, counting, endpoints)
  return { fixture, receiver: counting, certificate: withCertificate, answerMs, targets: added }
}

/**
 * By number of hanging endpoints. Alternating, with medians: two stalls of 100 ms of the whole machine decide
 * the p99 of 20 seconds.
 */
async function measureHealthyP99s(counts: readonly number[]): Promise<Map<number, number>> {
  const measured = counts.map((hanging) => ({ hanging, p99s: [] as number[] }))
  for (let round = 0; round < p99Rounds; round++) {
    for (const { hanging, p99s } of measured) p99s.push(await measureHealthyP99(hanging))
  }
  return new Map(measured.map(({ hanging, p99s }) => [hanging, median(p99s)]))
}

async function measureHealthyP99(hanging: number): Promise<number> {
  receiver.behave({ hanging: targets.slice(0, hanging).map(({ path }) => path) })
  // Long enough for the hanging endpoints to use up their permits.
  await untilReceived(receiver, await raiseAtRate(5, hanging))
  await receiver.take()
  const expected = await raiseAtRate(seconds, hanging)
  // No timeout: an event that never arrives fails the benchmark, and a late one is in its p99.
  await untilReceived(receiver, expected)
  const { latenciesMs } = await receiver.take()
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
  await until(async () => (await fixture.waiting()) === 0, 120_000)
  await sleep(8_000)
  await receiver.take()
  return p99
}

/** Returns the number for endpoints that do not hang, which are all but the first `hanging`. */
async function raiseAtRate(forSeconds: number, hanging: number): Promise<number> {
  const everyMs = 50
  const each = (eventsPerSecond * everyMs) / 1_000
  const startedAt = performance.now()
  const raised: Promise<void>[] = []
  let healthy = 0
  for (let tick = 0; tick < (forSeconds * 1_000) / everyMs; tick++) {
    await sleep(Math.max(0, startedAt + tick * everyMs - performance.now()))
    const indexes = Array.from({ length: each }, (_, index) => (tick * each + index) % endpoints)
    healthy += indexes.filter((index) => index >= hanging).length
    raised.push(fixture.raise(...indexes.map((index) => eventFor(targets[index] as Target))))
  }
  await Promise.all(raised)
  return healthy
}

/** Delay of each retry beyond its backoff. Throws if one is early or more than a second late. */
async function measureRetries(): Promise<Record<string, number>> {
  const delaysMs = [1_000, 2_000, 4_000]
  receiver.behave({ failing: targets.map(({ path }) => path) })
  await fixture.raise(...targets.map(eventFor))
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
        { 'min ms late': Math.min(...all), 'max ms late': Math.max(...all), retries: all.length },
      ]),
    ),
  )
  const [min, max] = [Math.min(...late.flat()), Math.max(...late.flat())]
  // Also fails on NaN, from a retry that did not come.
  if (!(min >= 0 && max <= maxLateMs))
    throw new Error(`retries came ${min} to ${max} ms after their delays: expected 0 to ${maxLateMs}`)
  return { retry_late_ms_least: Math.round(min), retry_late_ms_most: Math.round(max) }
}

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { residentBytes, startBenchProcess } from '../support/bench-process.ts'
import { printFigures, ratio } from '../support/benchmark.ts'
import { plainBody, proxyKey } from '../support/gateway-bench.ts'
import { median } from '../support/quantile.ts'
import { readMetric } from '../support/read-metric.ts'
import type { LoadOrder, LoadResult } from '../support/http-load.ts'
import type { CounterOrder, RecordCount } from '../support/record-counter.ts'
import { startGatewayProcess } from '../support/start-gateway-process.ts'
import { until } from '../support/until.ts'

/**
 * Half of the gateway's maximum rate for minutes, while the receiver of its records refuses, hangs and works
 * again. Memory must stay level, the spool must be empty at the end, and every call must have been taken;
 * duplicates have the same identifier.
 */
const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '300' }, rate: { type: 'string' } },
})
const seconds = Number(values.seconds)
const samples = 30
const maximumSeconds = 6
const drainWithinMs = 300_000
/** One phase each; between them it is up. */
const absences = ['away', 'silent'] as const
const phaseMs = 5_000

const directory = await mkdtemp(join(tmpdir(), 'sluice-soak-gateway-'))
const provider = await startBenchProcess(new URL('../support/bench-provider.ts', import.meta.url))
const receiver = await startBenchProcess(new URL('../support/record-counter.ts', import.meta.url))
const loader = await startBenchProcess(new URL('../support/http-load.ts', import.meta.url))
const gateway = await startGatewayProcess({
  directory,
  providerUrl: provider.url,
  receiverUrl: receiver.url,
  environment: {
    LOG_LEVEL: 'error',
    PROXY_API_KEY: proxyKey,
    // Shorter than a phase, so that requests time out while the receiver is silent.
    BACKEND_TIMEOUT_MS: '2000',
    SPOOL_KEY: Buffer.alloc(32, 5).toString('base64'),
  },
})
const metric = (name: string) => readMetric(gateway.operationsPort, `sluice_gateway_${name}`)
const order: LoadOrder = {
  url: gateway.url,
  connections: 64,
  seconds: maximumSeconds,
  headers: { 'content-type': 'application/json', authorization: `Bearer ${proxyKey}` },
  body: plainBody,
}

try {
  const fastest = await loader.ask<LoadResult>(order)
  const maximum = fastest.answered / fastest.seconds
  const rate = values.rate === undefined ? Math.round(maximum / 2) : Number(values.rate)
  console.log(`maximum ${Math.round(maximum)} calls/s; ${rate} calls/s for ${seconds} s`)
  const soaking = loader.ask<LoadResult>({ ...order, connections: 512, seconds, ratePerSecond: rate })
  const over = soaking.then(() => true)
  const [resident, result] = await Promise.all([watch(over), soaking, flap(over)])
  const answered = fastest.answered + result.answered
  await receiver.ask({ mode: 'there' } satisfies CounterOrder)
  const isDrained = async () => (await count()).distinct >= answered && (await metric('spool_records')) === 0
  await until(isDrained, drainWithinMs)
  await report(answered, fastest.failed + result.failed, resident)
} finally {
  await gateway.stop()
  for (const part of [loader, receiver, provider]) await part.stop()
  await rm(directory, { recursive: true })
}

function count(order: CounterOrder = {}): Promise<RecordCount> {
  return receiver.ask<RecordCount>(order)
}

/** Goes down and up until the load has ended. */
async function flap(over: Promise<boolean>): Promise<void> {
  for (let phase = 0; ; phase++) {
    const absence = absences[(phase >> 1) % absences.length]
    await count({ mode: phase % 2 === 0 || absence === undefined ? 'there' : absence })
    if (await Promise.race([over, sleep(phaseMs, false)])) return
  }
}

/** Resident megabytes over time, printed as measured. */
async function watch(over: Promise<boolean>): Promise<number[]> {
  const resident: number[] = []
  for (;;) {
    if (await Promise.race([over, sleep((seconds * 1_000) / samples, false)])) return resident
    const megabytes = Math.round(residentBytes(gateway.pid()) / 2 ** 20)
    resident.push(megabytes)
    const at = Math.round((resident.length * seconds) / samples)
    const [records, bytes] = await Promise.all([metric('spool_records'), metric('spool_bytes')])
    console.log(
      `${at} s: resident ${megabytes} MB, spool ${records} records, ${Math.round(bytes / 2 ** 20)} MB`,
    )
  }
}

async function report(answered: number, failed: number, resident: readonly number[]): Promise<void> {
  const { distinct, taken } = await count()
  const third = Math.floor(resident.length / 3)
  const [early, late] = [median(resident.slice(third, 2 * third)), median(resident.slice(-third))]
  console.log(
    `${answered} answered, ${distinct} taken, ${taken - distinct} of them twice; resident ${early} MB, then ${late} MB`,
  )
  printFigures('gateway-soak', {
    recorded: ratio(distinct, answered),
    failed,
    lost: await metric('records_lost_total'),
    taken_twice: taken - distinct,
    spool_records_left: await metric('spool_records'),
    resident_mb_early: early,
    resident_mb_late: late,
    growth_ratio: ratio(late, early),
  })
}

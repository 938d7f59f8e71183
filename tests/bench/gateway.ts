import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { freePorts } from '#infra/embedded/free-port.ts'
import { printFigures, ratio } from '../support/benchmark.ts'
import { cpuOfTree, residentBytes, startBenchProcess, type BenchProcess } from '../support/bench-process.ts'
import type { LoadOrder, LoadResult } from '../support/http-load.ts'
import { startServiceProcess } from '../support/service-process.ts'
import { until } from '../support/until.ts'

/**
 * The gateway with every body recorded, spooled (encrypted) and acknowledged, against a bare node:http pass-through that records nothing and
 * against no proxy at all. Provider, load and receiver of records are processes of their own; the receiver acknowledges and counts
 * (the API with its Kafka would take the cores that the gateway is measured on). Targets take turns, round by round, so that what
 * else the machine does is shared by all. CPU counts until the last record is acknowledged. nginx is not part of it.
 */
const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '6' }, only: { type: 'string' } },
})
const seconds = Number(values.seconds)
const rounds = 3
const proxyKey = 'bench'
const content = 'words '.repeat(300)
const chat = { model: 'gpt-4o-mini', messages: [{ role: 'user', content }] }
const plainBody = JSON.stringify(chat)
const streamBody = JSON.stringify({ ...chat, stream: true })
const headers = { 'content-type': 'application/json', authorization: `Bearer ${proxyKey}` }

interface Target {
  name: string
  url: string
  /** Undefined: there is no process to measure. */
  pid: number | undefined
}

interface Measured {
  rps: number
  p50Ms: number
  p99Ms: number
  firstP50Ms: number
  cpuUs: number
}

type Scenario = Pick<LoadOrder, 'connections' | 'body'> &
  Partial<Pick<LoadOrder, 'ratePerSecond' | 'headers'>> & { targets: readonly Target[] }

const provider = await startBenchProcess(new URL('../support/bench-provider.ts', import.meta.url))
const bareProxy = await startBenchProcess(new URL('../support/bare-proxy.ts', import.meta.url), [
  provider.url,
])
const receiver = await startBenchProcess(new URL('../support/record-counter.ts', import.meta.url))
const loader = await startBenchProcess(new URL('../support/http-load.ts', import.meta.url))
const directory = await mkdtemp(join(tmpdir(), 'sluice-bench-gateway-'))
const [port, operationsPort] = (await freePorts(2)) as [number, number]
const gatewayProcess = await startServiceProcess({
  name: 'gateway',
  operationsPort,
  logFile: join(directory, 'gateway.log'),
  environment: {
    NODE_OPTIONS: process.env['BENCH_NODE_OPTIONS'] ?? '',
    LOG_LEVEL: 'warn',
    GATEWAY_HOST: '127.0.0.1',
    GATEWAY_PORT: String(port),
    UPSTREAM_URL: provider.url,
    PROXY_API_KEY: proxyKey,
    API_BACKEND_URL: receiver.url,
    SERVICE_API_KEY: 'svc_bench',
    SPOOL_DIR: join(directory, 'spool'),
    SPOOL_KEY: Buffer.alloc(32, 5).toString('base64'),
  },
})
const direct: Target = { name: 'direct', url: provider.url, pid: undefined }
const bare: Target = { name: 'bare node:http', url: bareProxy.url, pid: bareProxy.pid }
const gateway: Target = { name: 'gateway', url: `http://127.0.0.1:${port}`, pid: gatewayProcess.pid() }
let answeredByGateway = 0
const all = [direct, bare, gateway]
const scenarios: Readonly<Record<string, Scenario>> = {
  c1: { targets: all, connections: 1, body: plainBody },
  c64: { targets: all, connections: 64, body: plainBody },
  streams: { targets: all, connections: 32, body: streamBody },
  rate1000: { targets: all, connections: 256, body: plainBody, ratePerSecond: 1_000 },
  first: {
    targets: all,
    connections: 256,
    body: streamBody,
    ratePerSecond: 20,
    headers: { 'x-chunk-pause': '10' },
  },
}

try {
  const names = Object.keys(scenarios).filter((name) => values.only === undefined || values.only === name)
  for (const body of [plainBody, streamBody])
    for (const target of [bare, gateway]) await measureOnce({ targets: [], connections: 64, body }, target, 3)
  const results: Record<string, Record<string, Measured>> = {}
  for (const name of names) results[name] = await measure(name, scenarios[name] as Scenario)
  const stored = await receiver.ask<number>({})
  console.log(
    `resident: bare ${megabytes(bareProxy)} MB, gateway ${megabytes({ pid: gatewayProcess.pid() })} MB; ${stored} of ${answeredByGateway} calls recorded`,
  )
  if (values.only === undefined) printFigures('gateway', figuresOf(results, stored / answeredByGateway))
} finally {
  await gatewayProcess.stop()
  for (const part of [loader, receiver, bareProxy, provider]) await part.stop()
  await rm(directory, { recursive: true })
}

async function measure(name: string, scenario: Scenario): Promise<Record<string, Measured>> {
  const runs = new Map<Target, Measured[]>(scenario.targets.map((target) => [target, []]))
  for (let round = 0; round < rounds; round++)
    for (const [target, measured] of runs)
      measured.push(await measureOnce(scenario, target, seconds / rounds))
  const table = Object.fromEntries([...runs].map(([target, measured]) => [target.name, medians(measured)]))
  console.log(name)
  console.table(table)
  return table
}

async function measureOnce(scenario: Scenario, target: Target, forSeconds: number): Promise<Measured> {
  const { connections, body, ratePerSecond } = scenario
  const before = target.pid === undefined ? 0 : cpuOfTree(target.pid)
  const order: LoadOrder = {
    url: target.url,
    connections,
    body,
    seconds: forSeconds,
    headers: { ...headers, ...scenario.headers },
    ...(ratePerSecond === undefined ? {} : { ratePerSecond }),
  }
  const { answered, failed, seconds: took, ...times } = await loader.ask<LoadResult>(order)
  if (failed > 0 || answered === 0)
    throw new Error(`${target.name}: ${failed} calls failed, ${answered} were answered`)
  if (target === gateway) {
    answeredByGateway += answered
    await until(async () => (await receiver.ask<number>({})) >= answeredByGateway)
  }
  // What the last answers left to do: acknowledgements, connections that close.
  await sleep(200)
  const cpuUs = target.pid === undefined ? NaN : (cpuOfTree(target.pid) - before) / answered
  return { rps: answered / took, ...times, cpuUs }
}

function figuresOf(results: Readonly<Record<string, Record<string, Measured>>>, recorded: number) {
  const of = (scenario: string, { name }: Target) => results[scenario]?.[name] as Measured
  const added = (scenario: string, target: Target, time: 'p99Ms' | 'firstP50Ms') =>
    Number((of(scenario, target)[time] - of(scenario, direct)[time]).toFixed(3))
  return {
    cpu_ratio_c64: ratio(of('c64', gateway).cpuUs, of('c64', bare).cpuUs),
    cpu_ratio_streams: ratio(of('streams', gateway).cpuUs, of('streams', bare).cpuUs),
    rps_ratio_c64: ratio(of('c64', gateway).rps, of('c64', bare).rps),
    p99_added_ms_1000rps: added('rate1000', gateway, 'p99Ms'),
    p99_added_ms_1000rps_bare: added('rate1000', bare, 'p99Ms'),
    ttft_added_ms_p50: added('first', gateway, 'firstP50Ms'),
    ttft_added_ms_p50_bare: added('first', bare, 'firstP50Ms'),
    cpu_us_c64: Math.round(of('c64', gateway).cpuUs),
    cpu_us_streams: Math.round(of('streams', gateway).cpuUs),
    recorded,
  }
}

function medians(measured: readonly Measured[]): Measured {
  const middle = (field: keyof Measured) => {
    const sorted = measured.map((each) => each[field]).sort((a, b) => a - b)
    return Number((sorted[sorted.length >> 1] ?? NaN).toFixed(2))
  }
  return {
    rps: middle('rps'),
    p50Ms: middle('p50Ms'),
    p99Ms: middle('p99Ms'),
    firstP50Ms: middle('firstP50Ms'),
    cpuUs: middle('cpuUs'),
  }
}

function megabytes({ pid }: Pick<BenchProcess, 'pid'>): number {
  return Math.round(residentBytes(pid) / 2 ** 20)
}

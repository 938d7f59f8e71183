import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import pg from 'pg'
import { openBenchmark, printFigures, ratio } from '../support/benchmark.ts'
import { startBenchProcess } from '../support/bench-process.ts'
import {
  measure,
  measureInTurns,
  printScenario,
  proxyKey,
  scenarios,
  type Measured,
  type Target,
} from '../support/gateway-bench.ts'
import type { RecordCount } from '../support/record-counter.ts'
import { residentAfterLarge } from '../support/large-bodies.ts'
import { makeCertificate } from '../support/make-certificate.ts'
import { startNginxProxy } from '../support/nginx-proxy.ts'
import { startGatewayProcess } from '../support/start-gateway-process.ts'
import { startStack } from '../support/start-stack.ts'
import { until } from '../support/until.ts'

/**
 * The gateway with every body recorded, spooled (encrypted) and acknowledged, against no proxy, nginx as a
 * plain proxy (if installed), and a bare node:http pass-through that records nothing. Provider, load and
 * receiver of records are separate processes. In the comparison the receiver acknowledges and counts, because
 * the pipeline would take the measured cores. Then once more in front of the pipeline itself (Kafka, API,
 * sink, Postgres), and with its API frozen, so that everything is spooled first and stored afterwards.
 *
 * With `--tls` the provider speaks HTTPS to the bare proxy and the gateway, and neither nginx nor the
 * pipeline is measured. The added time is then relative to a provider over plain HTTP and includes TLS.
 */
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '6' },
    only: { type: 'string' },
    'without-pipeline': { type: 'boolean', default: false },
    tls: { type: 'boolean', default: false },
  },
})
const seconds = Number(values.seconds)
/** V8 compiles for some 20,000 calls: until then its threads take 50 µs of CPU per call, afterwards 20. */
const warmUpSeconds = 8
const storeWithinMs = 600_000

const directory = await mkdtemp(join(tmpdir(), 'sluice-bench-gateway-'))
const pemFile = values.tls ? await writeCertificate() : undefined
const overTls = pemFile === undefined ? [] : [pemFile]
const providerScript = new URL('../support/bench-provider.ts', import.meta.url)
const provider = await startBenchProcess(providerScript)
const upstream = values.tls ? await startBenchProcess(providerScript, ['', ...overTls]) : provider
const bareProxy = await startBenchProcess(new URL('../support/bare-proxy.ts', import.meta.url), [
  upstream.url,
  ...overTls,
])
const receiver = await startBenchProcess(new URL('../support/record-counter.ts', import.meta.url))
const loader = await startBenchProcess(new URL('../support/http-load.ts', import.meta.url))
const nginxProxy = values.tls ? undefined : await startNginxProxy(provider.url)
const direct: Target = { name: 'direct', url: provider.url, pid: undefined }
const bare: Target = { name: 'bare node:http', url: bareProxy.url, pid: () => bareProxy.pid }
const { gateway, stop: stopGateway } = await startAlone()
const nginx: Target[] = []
if (nginxProxy === undefined) console.log('nginx is not installed: it is skipped')
else nginx.push({ name: 'nginx', url: nginxProxy.url, pid: () => nginxProxy.pid })

try {
  for (const scenario of [scenarios.c64, scenarios.streams])
    for (const target of [...nginx, bare, gateway]) await measure(loader, scenario, target, warmUpSeconds)
  const results: Record<string, Map<Target, Measured>> = {}
  for (const [name, scenario] of Object.entries(scenarios)) {
    if (values.only !== undefined && values.only !== name) continue
    const targets = [direct, ...nginx, bare, gateway]
    results[name] = await measureInTurns(loader, scenario, targets, seconds)
    printScenario(name, results[name], direct)
  }
  if (values.only === undefined) {
    const stored = values['without-pipeline'] || values.tls ? {} : await measureWithPipeline()
    const large = values.tls ? {} : { rss_after_large_mb: await residentAfterLarge(provider.url, receiver) }
    printFigures(values.tls ? 'gateway-tls' : 'gateway', { ...figuresOf(results), ...stored, ...large })
  }
} finally {
  await stopGateway()
  await nginxProxy?.stop()
  for (const part of new Set([loader, receiver, bareProxy, upstream, provider])) await part.stop()
  await rm(directory, { recursive: true })
}

/** Key and certificate in one file. */
async function writeCertificate(): Promise<string> {
  const file = join(directory, 'provider.pem')
  const { key, cert } = makeCertificate()
  await writeFile(file, key + cert)
  return file
}

/** A gateway whose records go to the counting receiver. */
async function startAlone(): Promise<{ gateway: Target; stop: () => Promise<unknown> }> {
  const running = await startGatewayProcess({
    directory,
    providerUrl: upstream.url,
    receiverUrl: receiver.url,
    environment: {
      NODE_OPTIONS: process.env['BENCH_NODE_OPTIONS'] ?? '',
      ...(pemFile === undefined ? {} : { NODE_EXTRA_CA_CERTS: pemFile }),
      LOG_LEVEL: 'warn',
      PROXY_API_KEY: proxyKey,
      SPOOL_KEY: Buffer.alloc(32, 5).toString('base64'),
    },
  })
  let expected = 0
  const settle = async (answered: number) => {
    expected += answered
    await until(async () => (await receiver.ask<RecordCount>({})).distinct >= expected)
  }
  const target = { name: 'gateway', url: running.url, pid: running.pid, settle }
  return { gateway: target, stop: running.stop }
}

/**
 * Every call stored by the real pipeline, and every call spooled while its API is frozen. At the end each is
 * in Postgres once.
 */
async function measureWithPipeline(): Promise<Record<string, number>> {
  const stopInfrastructure = await openBenchmark()
  const stack = await startStack({ upstreamUrl: provider.url, insecureWebhookHosts: '127.0.0.1' })
  const pool = new pg.Pool({ connectionString: stack.databaseUrl, max: 1 })
  try {
    const countStored = async () =>
      (await pool.query<{ count: number }>('select count(*)::int as count from llm_requests')).rows[0]
        ?.count ?? 0
    let answered = 0
    const through = (name: string, isStored: boolean): Target => ({
      name,
      url: stack.gatewayUrl,
      pid: stack.processes.gateway.pid,
      headers: { authorization: `Bearer ${stack.proxyApiKey}` },
      async settle(count) {
        answered += count
        if (isStored) await until(async () => (await countStored()) >= answered, storeWithinMs)
      },
    })
    const running = through('gateway, stored', true)
    await measure(loader, scenarios.c64, running, warmUpSeconds)
    const freeze = (signal: NodeJS.Signals) => process.kill(stack.processes.api.pid(), signal)
    const ratios: Record<string, number> = {}
    for (const name of ['c64', 'streams'] as const) {
      const stored = await measureInTurns(loader, scenarios[name], [direct, bare, running], seconds)
      freeze('SIGSTOP')
      const frozen = through('gateway, API frozen', false)
      const spooled = await measureInTurns(loader, scenarios[name], [bare, frozen], seconds)
      freeze('SIGCONT')
      await until(async () => (await countStored()) >= answered, storeWithinMs)
      const frozenMeasured = spooled.get(frozen) as Measured
      printScenario(`${name} before the pipeline`, new Map([...stored, [frozen, frozenMeasured]]), direct)
      const cpuOf = (results: ReadonlyMap<Target, Measured>, target: Target) =>
        results.get(target)?.cpuUs ?? NaN
      ratios[`cpu_ratio_${name}_stored`] = ratio(cpuOf(stored, running), cpuOf(stored, bare))
      ratios[`cpu_ratio_${name}_spooled`] = ratio(cpuOf(spooled, frozen), cpuOf(spooled, bare))
    }
    const count = await countStored()
    console.log(`${count} of ${answered} calls are stored`)
    return { ...ratios, recorded: ratio(count, answered) }
  } finally {
    await pool.end()
    await stack.stop()
    await stopInfrastructure()
  }
}

function figuresOf(results: Readonly<Record<string, ReadonlyMap<Target, Measured>>>): Record<string, number> {
  const of = (scenario: keyof typeof scenarios, target: Target) => results[scenario]?.get(target) as Measured
  const added = (scenario: keyof typeof scenarios, target: Target, time: 'p99Ms' | 'firstP50Ms') =>
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
    resident_mb: Math.round(of('c64', gateway).residentMb),
  }
}

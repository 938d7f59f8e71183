import { setTimeout as sleep } from 'node:timers/promises'
import { cpuOfTree, residentBytes, type BenchProcess } from './bench-process.ts'
import type { LoadOrder, LoadResult } from './http-load.ts'
import { median } from './quantile.ts'

export const proxyKey = 'bench'
const content = 'words '.repeat(300)
const chat = { model: 'gpt-4o-mini', messages: [{ role: 'user', content }] }
/** 2 kB. */
export const plainBody = JSON.stringify(chat)
const streamBody = JSON.stringify({ ...chat, stream: true })

/** The proxy under test. */
export interface Target {
  name: string
  url: string
  /** Undefined: there is no process to measure. */
  pid: (() => number) | undefined
  headers?: Readonly<Record<string, string>>
  /** Resolves when the work that `answered` calls caused is done: it is part of their cost. */
  settle?: (answered: number) => Promise<void>
}

export type Scenario = Pick<LoadOrder, 'connections' | 'body'> &
  Partial<Pick<LoadOrder, 'ratePerSecond' | 'headers'>>

export interface Measured {
  rps: number
  p50Ms: number
  p99Ms: number
  firstP50Ms: number
  cpuUs: number
  residentMb: number
}

export const scenarios = {
  c1: { connections: 1, body: plainBody },
  c64: { connections: 64, body: plainBody },
  streams: { connections: 32, body: streamBody },
  rate1000: { connections: 256, body: plainBody, ratePerSecond: 1_000 },
  first: { connections: 256, body: streamBody, ratePerSecond: 20, headers: { 'x-chunk-pause': '10' } },
} satisfies Record<string, Scenario>

const rounds = 3
/** For acknowledgements and closing connections. */
const afterMs = 200

/**
 * Measures the targets in alternating rounds, so that other load on the machine affects all alike. Medians.
 */
export async function measureInTurns(
  loader: BenchProcess,
  scenario: Scenario,
  targets: readonly Target[],
  seconds: number,
): Promise<Map<Target, Measured>> {
  const runs = new Map<Target, Measured[]>(targets.map((target) => [target, []]))
  for (let round = 0; round < rounds; round++)
    for (const [target, measured] of runs)
      measured.push(await measure(loader, scenario, target, seconds / rounds))
  return new Map([...runs].map(([target, measured]) => [target, medians(measured)]))
}

/** CPU time counts until the last record has been delivered. */
export async function measure(
  loader: BenchProcess,
  scenario: Scenario,
  target: Target,
  seconds: number,
): Promise<Measured> {
  const { connections, body, ratePerSecond } = scenario
  const before = target.pid === undefined ? 0 : cpuOfTree(target.pid())
  const { answered, failed, ...result } = await loader.ask<LoadResult>({
    url: target.url,
    connections,
    body,
    seconds,
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${proxyKey}`,
      ...target.headers,
      ...scenario.headers,
    },
    ...(ratePerSecond === undefined ? {} : { ratePerSecond }),
  })
  if (failed > 0 || answered === 0)
    throw new Error(`${target.name}: ${failed} calls failed, ${answered} were answered`)
  await target.settle?.(answered)
  await sleep(afterMs)
  return {
    rps: answered / result.seconds,
    p50Ms: result.p50Ms,
    p99Ms: result.p99Ms,
    firstP50Ms: result.firstP50Ms,
    cpuUs: target.pid === undefined ? NaN : (cpuOfTree(target.pid()) - before) / answered,
    residentMb: target.pid === undefined ? NaN : residentBytes(target.pid()) / 2 ** 20,
  }
}

/** Prints absolute times of `floor`, and what each other target adds to them. */
export function printScenario(name: string, results: ReadonlyMap<Target, Measured>, floor: Target): void {
  const base = results.get(floor)
  const rows = [...results].map(([target, { rps, p50Ms, p99Ms, firstP50Ms, cpuUs, residentMb }]) => {
    const added = (ms: number, of: number | undefined) =>
      Number((target === floor ? ms : ms - (of ?? 0)).toFixed(2))
    const row = {
      'requests/s': Math.round(rps),
      'p50 added ms': added(p50Ms, base?.p50Ms),
      'p99 added ms': added(p99Ms, base?.p99Ms),
      'first added ms': added(firstP50Ms, base?.firstP50Ms),
      'CPU µs': Math.round(cpuUs),
      'resident MB': Math.round(residentMb),
    }
    return [target.name, row]
  })
  console.log(`${name} (absolute times of ${floor.name})`)
  console.table(Object.fromEntries(rows))
}

function medians(measured: readonly Measured[]): Measured {
  const middle = (field: keyof Measured) => median(measured.map((each) => each[field]))
  return {
    rps: middle('rps'),
    p50Ms: middle('p50Ms'),
    p99Ms: middle('p99Ms'),
    firstP50Ms: middle('firstP50Ms'),
    cpuUs: middle('cpuUs'),
    residentMb: middle('residentMb'),
  }
}

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { builtInScorers } from '#schemas/verdicts.ts'
import { readOrdinaryCalls } from '#evals/ordinary-traffic.ts'
import { printFigures, ratio } from '../support/benchmark.ts'
import { startBenchProcess, type BenchProcess } from '../support/bench-process.ts'
import { checkOut } from '../support/check-out.ts'
import { hostileUnits } from '#detectors/testing/hostile-units.ts'
import type { CostOrder } from '../support/detector-cost-process.ts'

/**
 * CPU of all detectors on the ordinary traffic of evals/datasets, beside another commit in the same run.
 * Rounds alternate; each call counts with its cheapest round, because others use the machine. Also the calls
 * that cost most per kB, as multiples of the mean: a limit for what one text may cost.
 */
const { values } = parseArgs({
  options: { beside: { type: 'string', default: '1d4bdc5c' }, rounds: { type: 'string', default: '6' } },
})
const root = join(import.meta.dirname, '..', '..')
const cache = join(root, '.cache')
await mkdir(cache, { recursive: true })

const ordinary = readOrdinaryCalls(join(root, 'evals/datasets/ordinary'), 'all')
const hostile = hostileUnits.map(hostileCall)
const order: CostOrder = {
  scorers: builtInScorers,
  calls: ordinary.map(({ request, response }) => ({
    request: JSON.stringify(request),
    response: response === null ? null : JSON.stringify(response),
  })),
}
const totalKb = order.calls.reduce((sum, call) => sum + kbOf(call), 0)

const now = await startTree(root)
const then = await startTree(await checkOut(values.beside, cache))
const [costsNow, costsThen] = [emptyCosts(), emptyCosts()]
try {
  for (let round = 0; round < Number(values.rounds); round++) {
    keepCheapest(costsNow, await now.ask<number[]>(order))
    keepCheapest(costsThen, await then.ask<number[]>(order))
  }
  const [sumNow, sumThen] = [sumOf(costsNow), sumOf(costsThen)]
  const mean = sumNow / totalKb
  const dearest = await dearestTexts(mean)
  console.table(dearest.slice(0, 8))
  printFigures('detectors', {
    us_per_kb: Number(mean.toFixed(1)),
    [`us_per_kb_${values.beside}`]: Number((sumThen / totalKb).toFixed(1)),
    cpu_ratio: ratio(sumNow, sumThen),
    dearest_ratio: dearest[0]?.['of the mean'] ?? NaN,
  })
} finally {
  await Promise.all([now.stop(), then.stop()])
}

/** Cost per kB of each ordinary call and hostile text, the dearest first. */
async function dearestTexts(mean: number): Promise<{ text: string; 'of the mean': number }[]> {
  const costs = hostile.map(() => Infinity)
  for (let round = 0; round < 3; round++)
    keepCheapest(costs, await now.ask<number[]>({ ...order, calls: hostile }))
  const named = [
    ...order.calls.map((call, index) => [ordinary[index]?.id ?? '', costsNow[index] ?? NaN, call] as const),
    ...hostile.map(
      (call, index) => [JSON.stringify(hostileUnits[index]), costs[index] ?? NaN, call] as const,
    ),
  ]
  return named
    .map(([text, us, call]) => ({ text, 'of the mean': ratio(us / kbOf(call), mean) }))
    .sort((one, other) => other['of the mean'] - one['of the mean'])
}

function hostileCall(unit: string): CostOrder['calls'][number] {
  const content = unit.repeat(Math.ceil(24_576 / unit.length)).slice(0, 24_576)
  const messages = ['system', 'tool', 'user'].map((role) => ({ role, content }))
  const choices = [{ message: { role: 'assistant', content } }]
  return { request: JSON.stringify({ messages }), response: JSON.stringify({ choices }) }
}

function kbOf({ request, response }: CostOrder['calls'][number]): number {
  return Buffer.byteLength(request + (response ?? ''), 'utf8') / 1_024
}

function startTree(tree: string): Promise<BenchProcess> {
  return startBenchProcess(new URL('../support/detector-cost-process.ts', import.meta.url), [tree])
}

function emptyCosts(): number[] {
  return order.calls.map(() => Infinity)
}

function keepCheapest(costs: number[], measured: readonly number[]): void {
  for (const [index, us] of measured.entries()) costs[index] = Math.min(costs[index] ?? Infinity, us)
}

function sumOf(costs: readonly number[]): number {
  return costs.reduce((sum, us) => sum + us, 0)
}

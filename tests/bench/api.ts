import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { pathsOf } from '../support/api-bench-paths.ts'
import { openBenchmark, printFigures, ratio } from '../support/benchmark.ts'
import { filledDatabase, startKeptPostgres, type FilledDatabase } from '../support/filled-database.ts'
import { quantile } from '../support/quantile.ts'
import { operatorSecret } from '../support/start-api.ts'
import type { ServiceProcess } from '../support/service-process.ts'
import { startFilledApi } from '../support/start-filled-api.ts'

/**
 * Response times of the API over HTTP with ten million calls (thirty million scores), against a hundred
 * thousand. The first run fills the databases, which takes half an hour and 20 GB; they stay in `--state`.
 * Each query runs ten times on both before it is timed, so its pages are in memory: this compares work, not
 * disks.
 */
const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '10000000' },
    rounds: { type: 'string', default: '200' },
    state: { type: 'string', default: join(import.meta.dirname, '..', '..', '.cache', 'bench-api') },
    // Only queries whose name contains this.
    only: { type: 'string', default: '' },
    'fill-only': { type: 'boolean', default: false },
  },
})
const smallRows = 100_000

interface Target {
  api: ServiceProcess
  paths: Record<string, string>
  ask(path: string): Promise<number>
}

const stopInfrastructure = await openBenchmark()
const postgres = await startKeptPostgres(values.state)
const targets: Target[] = []
try {
  for (const rows of [smallRows, Number(values.rows)]) {
    const filled = await filledDatabase(postgres, rows, console.log)
    if (!values['fill-only']) targets.push(await startTarget(filled))
  }
  const [small, large] = targets
  if (small !== undefined && large !== undefined) report(await measure(small, large))
} finally {
  for (const { api } of targets) await api.stop()
  await postgres.stop()
  await stopInfrastructure()
}

async function startTarget(filled: FilledDatabase): Promise<Target> {
  const { api, baseUrl } = await startFilledApi(filled, values.state)
  const made = await fetch(`${baseUrl}/api/projects/${filled.projectId}/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${operatorSecret}` },
    body: JSON.stringify({ name: 'bench' }),
  })
  const { key } = (await made.json()) as { key: string }
  return { api, paths: await pathsOf(filled), ask: (path) => ask(baseUrl + path, key) }
}

/** Milliseconds until the whole answer, or until the first bytes of an export. */
async function ask(url: string, key: string): Promise<number> {
  const who = url.includes('/api/dead-letters')
    ? { authorization: `Bearer ${operatorSecret}` }
    : { 'x-service-key': key }
  const startedAt = performance.now()
  const answer = await fetch(url, { headers: who })
  if (answer.status !== 200) throw new Error(`${url}: ${answer.status} ${await answer.text()}`)
  if (url.includes('/export')) return firstByte(answer, startedAt)
  await answer.text()
  return performance.now() - startedAt
}

async function firstByte(answer: Response, startedAt: number): Promise<number> {
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader()
  await reader.read()
  const ms = performance.now() - startedAt
  await reader.cancel()
  return ms
}

interface Measured {
  name: string
  small: number[]
  large: number[]
}

/** Alternates, so that other load on the machine affects both alike. */
async function measure(small: Target, large: Target): Promise<Measured[]> {
  const measured: Measured[] = []
  for (const [name, path] of Object.entries(large.paths)) {
    if (!name.includes(values.only)) continue
    const of = { name, small: [] as number[], large: [] as number[] }
    const smallPath = small.paths[name] ?? path
    for (let round = -10; round < Number(values.rounds); round++) {
      const [smallMs, largeMs] = [await small.ask(smallPath), await large.ask(path)]
      if (round < 0) continue
      of.small.push(smallMs)
      of.large.push(largeMs)
    }
    measured.push(of)
  }
  return measured
}

function report(measured: readonly Measured[]): void {
  const lines = measured.map(({ name, small, large }) => {
    const [smallP99, largeP99] = [quantile(small, 0.99), quantile(large, 0.99)]
    return {
      name,
      'p50 small': quantile(small, 0.5),
      'p50 large': quantile(large, 0.5),
      'p99 small': smallP99,
      'p99 large': largeP99,
      'p50 ratio': quantile(large, 0.5) / quantile(small, 0.5),
      'p99 ratio': largeP99 / smallP99,
    }
  })
  console.table(
    Object.fromEntries(
      lines.map(({ name, ...times }) => [
        name,
        Object.fromEntries(Object.entries(times).map(([column, ms]) => [column, ratio(ms, 1)])),
      ]),
    ),
  )
  const worst = (column: 'p50 ratio' | 'p99 ratio') => Math.max(...lines.map((line) => line[column]))
  const perRoute = lines.map((line) => [
    `${line.name.replaceAll(/\W+/g, '_')}_p99_ms`,
    ratio(line['p99 large'], 1),
  ])
  printFigures('api', {
    p99_ratio_worst: ratio(worst('p99 ratio'), 1),
    p50_ratio_worst: ratio(worst('p50 ratio'), 1),
    ...(Object.fromEntries(perRoute) as Record<string, number>),
  })
}

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { freePorts } from '#infra/embedded/free-port.ts'
import { createSealer } from '#runtime/sealing.ts'
import { newId } from '#schemas/ids.ts'
import type { ScoreJob } from '#schemas/safety-score-job.ts'
import { answers, asks, sampleJob } from '#services/scorer/testing/sample-job.ts'
import { setScorerFixture, type ScorerFixture } from '#services/scorer/testing/scorer-fixture.ts'
import { openBenchmark, printFigures, ratio } from '../support/benchmark.ts'
import { cpuOfTree, startBenchProcess } from '../support/bench-process.ts'
import { measureDetectors, measureJudgeCosts, measureThread, sampleCalls } from '../support/scoring-costs.ts'
import { startServiceProcess, type ServiceProcess } from '../support/service-process.ts'
import { until } from '../support/until.ts'

/**
 * Jobs per second with a judge of 50 ms at 1, 2 and 4 processes, as a share of that multiple of one; CPU of
 * the detectors alone per kB of text; and the judge's cost per million calls in each mode, with combined and
 * separate rubrics.
 */
const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '10' }, only: { type: 'string' } },
})
const seconds = Number(values.seconds)
const judgeMs = 50
/** Low, so that a process waits for the judge even if four of them share two cores. */
const judgeConcurrency = 2
const projects = Array.from({ length: 8 }, () => newId('project'))

const detectors = values.only === 'processes' ? {} : await measureScoring()
const processes = values.only === 'scoring' ? {} : await measureProcesses()
printFigures('scorer', { ...processes, ...detectors })

async function measureScoring(): Promise<Record<string, number>> {
  const { alone, all } = await measureDetectors(300)
  console.table(Object.fromEntries([...alone].map(([name, us]) => [name, { 'CPU µs/kB': us.toFixed(1) }])))
  const costs = await measureJudgeCosts(sampleCalls(300))
  console.table(costs)
  const { inlineMs, threadMs } = await measureThread()
  console.log(`a large call: ${inlineMs.toFixed(0)} ms here, ${threadMs.toFixed(0)} ms in a thread`)
  const of = (mode: string) => costs[`${mode}, together`]?.['US$ a million calls'] ?? NaN
  return {
    detector_us_per_kb: Number(all.toFixed(1)),
    thread_ratio: ratio(threadMs, inlineMs),
    judge_usd_per_million_always: of('always'),
    judge_usd_per_million_uncertain: of('uncertain'),
    judge_usd_per_million_separate: costs['always, apart']?.['US$ a million calls'] ?? NaN,
  }
}

async function measureProcesses(): Promise<Record<string, number>> {
  const closeInfrastructure = await openBenchmark()
  const judge = await startBenchProcess(new URL('../support/mock-judge-process.ts', import.meta.url), [
    String(judgeMs),
  ])
  try {
    const rates = new Map<number, number>()
    let cpuMs = NaN
    for (const count of [1, 2, 4]) {
      const measured = await rateOf(count, judge.url)
      rates.set(count, measured.perSecond)
      if (count === 1) cpuMs = measured.cpuMsPerJob
    }
    const one = rates.get(1) ?? NaN
    const rows = [...rates].map(([count, rate]) => [
      `${count} processes`,
      {
        'jobs/s': Math.round(rate),
        'of so many times one': ratio(rate, count * one),
        "of the judge's limit": ratio(rate, (count * judgeConcurrency * 1_000) / judgeMs),
      },
    ])
    console.table(Object.fromEntries(rows))
    return {
      jobs_per_s_1: Number(one.toFixed(1)),
      cpu_ms_per_job: Number(cpuMs.toFixed(2)),
      efficiency_2: ratio(rates.get(2) ?? NaN, 2 * one),
      efficiency_4: ratio(rates.get(4) ?? NaN, 4 * one),
    }
  } finally {
    await judge.stop()
    await closeInfrastructure()
  }
}

/**
 * Jobs per second while every process has work: two thirds of the jobs with six partitions and four
 * processes.
 */
async function rateOf(count: number, judgeUrl: string): Promise<{ perSecond: number; cpuMsPerJob: number }> {
  const fixture = await setScorerFixture()
  const directory = await mkdtemp(join(tmpdir(), 'sluice-bench-scorer-'))
  const scorers = await startScorers(count, fixture, directory, judgeUrl)
  try {
    const warmUp = makeJobs(60 * count)
    await fixture.send(warmUp)
    await until(() => fixture.recorded.length >= warmUp.length, 120_000)
    const jobs = makeJobs(Math.ceil((count * judgeConcurrency * 1_000 * seconds) / judgeMs))
    await fixture.send(jobs)
    const doneAfter = async (share: number) => {
      await until(() => fixture.recorded.length >= warmUp.length + share * jobs.length, 600_000)
      const cpuUs = scorers.reduce((sum, { pid }) => sum + cpuOfTree(pid()), 0)
      return { atMs: performance.now(), count: fixture.recorded.length, cpuUs }
    }
    const from = await doneAfter(0.1)
    const to = await doneAfter(0.6)
    await doneAfter(1)
    const done = to.count - from.count
    return {
      perSecond: (done / (to.atMs - from.atMs)) * 1_000,
      cpuMsPerJob: (to.cpuUs - from.cpuUs) / 1_000 / done,
    }
  } finally {
    await Promise.all(scorers.map((scorer) => scorer.stop()))
    await fixture.close()
    await rm(directory, { recursive: true })
  }
}

async function startScorers(
  count: number,
  fixture: ScorerFixture,
  directory: string,
  judgeUrl: string,
): Promise<ServiceProcess[]> {
  const ports = await freePorts(count)
  const scorers = await Promise.all(
    ports.map((operationsPort, index) =>
      startServiceProcess({
        name: 'scorer',
        environment: {
          ...fixture.environment,
          OPENAI_BASE_URL: judgeUrl,
          OPENAI_API_KEY: 'not-checked-by-this-judge',
          JUDGE_CONCURRENCY: String(judgeConcurrency),
          NODE_OPTIONS: process.env['BENCH_NODE_OPTIONS'] ?? '',
        },
        operationsPort,
        logFile: join(directory, `scorer-${index}.log`),
      }),
    ),
  )
  // The last join causes a rebalance.
  await sleep(3_000)
  return scorers
}

/** Jobs with one request to the judge each. */
function makeJobs(count: number): ScoreJob[] {
  const sealer = createSealer([])
  return Array.from({ length: count }, (_unused, index) =>
    sampleJob(
      sealer,
      { request: asks(`How far is it to the station, please? (${index})`), response: answers('A mile.') },
      { project_id: projects[index % projects.length] as string, scorers: ['content_safety'] },
    ),
  )
}

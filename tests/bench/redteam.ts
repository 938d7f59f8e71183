import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { freePorts } from '#infra/embedded/free-port.ts'
import { idToUuid } from '#schemas/ids.ts'
import { setRedteamFixture, type RedteamFixture } from '#services/redteam/testing/redteam-fixture.ts'
import { cpuOfProcess, startBenchProcess } from '../support/bench-process.ts'
import { openBenchmark, printFigures, ratio } from '../support/benchmark.ts'
import { startServiceProcess } from '../support/service-process.ts'

/**
 * Requests a second to a target of 50 ms at 1, 16 and 64 at a time, as a share of the ideal: 20 a second each. What is timed is sending and recording:
 * the red team and the target have a process each, and this one is the API, with Kafka and Postgres behind it. Sink and scorer do not run: verdicts
 * come after an attempt in their own time, and what they cost has benchmarks of its own. Also the processor time of the red team for each request.
 */
const { values } = parseArgs({ options: { seconds: { type: 'string', default: '10' } } })
const seconds = Number(values.seconds)
const targetMs = 50

const closeParts = await openBenchmark()
const fixture = await setRedteamFixture({ judged: false })
const directory = await mkdtemp(join(tmpdir(), 'redteam-bench-'))
const [operationsPort = 0] = await freePorts(1)
const worker = await startServiceProcess({
  name: 'redteam',
  operationsPort,
  logFile: join(directory, 'redteam.log'),
  // As often as in production by default: tests look ten times as often.
  environment: { ...fixture.environment, REDTEAM_POLL_INTERVAL_MS: '1000' },
})
try {
  const project = await fixture.createProject()
  const figures: Record<string, number> = {}
  // The first run of a process opens connections and reads the probes.
  await measure(fixture, project.id, 16, 1)
  for (const concurrency of [1, 16, 64])
    Object.assign(figures, await measure(fixture, project.id, concurrency, seconds))
  console.table(figures)
  printFigures('redteam', figures)
} finally {
  await worker.stop()
  await fixture.close()
  await rm(directory, { recursive: true, force: true })
  await closeParts()
}

async function measure(
  on: RedteamFixture,
  projectId: string,
  concurrency: number,
  forSeconds: number,
): Promise<Record<string, number>> {
  const target = await startBenchProcess(new URL('../support/redteam-target-process.ts', import.meta.url), [
    String(targetMs),
  ])
  const ideal = (concurrency * 1_000) / targetMs
  const limit = Math.max(10, Math.ceil(ideal * forSeconds))
  const options = { concurrency, limit, repeats: Math.min(100, Math.ceil(limit / 200)) }
  const cpuBefore = cpuOfProcess(worker.pid()) ?? 0
  const ordered = await on.call('POST', '/api/redteam-runs', {
    project_id: projectId,
    agent_name: 'bench',
    target: { kind: 'chat', url: target.url },
    options,
  })
  const id = String(ordered.json['id'])
  const statusOf = async () => String((await on.call('GET', `/api/redteam-runs/${id}`)).json['status'])
  // As often as scripts/redteam asks. Each answer counts the run's attempts: fifty a second would be a tenth of what is measured.
  for (let status = ''; !['scoring', 'done'].includes(status); status = await statusOf()) {
    if (['failed', 'cancelled'].includes(status)) throw new Error(`the run is ${status}`)
    await sleep(500)
  }
  const cpuUs = (cpuOfProcess(worker.pid()) ?? 0) - cpuBefore
  const heard = await target.ask<{ asked: number; twice: number; firstAskedAtMs: number }>('heard')
  // Some attempts take more than one turn, and each turn is a request.
  if (heard.asked < limit || heard.twice > 0)
    throw new Error(
      `${limit} attempts were ordered, the target heard ${heard.asked} requests, ${heard.twice} of them again`,
    )
  // From the first request to the last record: planning is no sending.
  const { rows } = await on.pool.query<{ elapsed: number }>(
    `select extract(epoch from max(recorded_at) - $2::timestamptz)::float8 as elapsed from redteam_attempts where run_id = $1`,
    [idToUuid(id), new Date(heard.firstAskedAtMs)],
  )
  await on.call('POST', `/api/redteam-runs/${id}/cancel`)
  await target.stop()
  return {
    [`efficiency_${concurrency}`]: ratio(heard.asked / (rows[0]?.elapsed ?? Number.NaN), ideal),
    [`cpu_us_per_request_${concurrency}`]: Math.round(cpuUs / heard.asked),
  }
}

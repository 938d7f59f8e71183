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
 * Requests per second to a target of 50 ms at concurrency 1, 16 and 64, as a share of the ideal (20 per
 * second each), and CPU time per request. Times sending and recording: red team and target have a process
 * each, and this one is the API with Kafka and Postgres. Sink and scorer do not run: verdicts come later, and
 * their cost has its own benchmarks.
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
  // The default of production; tests poll ten times as often.
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
  // The interval of scripts/redteam. An answer counts the run's attempts: fifty per second would take a tenth
  // of the time.
  for (let status = ''; !['scoring', 'done'].includes(status); status = await statusOf()) {
    if (['failed', 'cancelled'].includes(status)) throw new Error(`the run is ${status}`)
    await sleep(500)
  }
  const cpuUs = (cpuOfProcess(worker.pid()) ?? 0) - cpuBefore
  const heard = await target.ask<{ asked: number; twice: number; firstAskedAtMs: number }>('heard')
  // An attempt of several turns makes several requests.
  if (heard.asked < limit || heard.twice > 0)
    throw new Error(
      `${limit} attempts were ordered, the target heard ${heard.asked} requests, ${heard.twice} of them again`,
    )
  // From the first request to the last record, without the planning.
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

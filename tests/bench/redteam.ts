import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { freePorts } from '#infra/embedded/free-port.ts'
import { idToUuid } from '#schemas/ids.ts'
import { setRedteamStage, type RedteamStage } from '#services/redteam/testing/redteam-stage.ts'
import { openBenchmark, printFigures, ratio } from '../support/benchmark.ts'
import { startRedteamTarget } from '../support/redteam-target.ts'
import { startServiceProcess } from '../support/service-process.ts'
import { until } from '../support/until.ts'

/** Requests a second to a target of 50 ms at 1, 16 and 64 at a time, as a share of the ideal: 20 a second each. The red team is a process of its own. */
const { values } = parseArgs({ options: { seconds: { type: 'string', default: '10' } } })
const seconds = Number(values.seconds)
const targetMs = 50

const closeParts = await openBenchmark()
const stage = await setRedteamStage()
const directory = await mkdtemp(join(tmpdir(), 'redteam-bench-'))
const [operationsPort = 0] = await freePorts(1)
const worker = await startServiceProcess({
  name: 'redteam',
  operationsPort,
  logFile: join(directory, 'redteam.log'),
  environment: stage.environment,
})
try {
  const project = await stage.createProject()
  const figures: Record<string, number> = {}
  // The first run of a process opens connections and reads the probes.
  await measure(stage, project.id, 16, 1)
  for (const concurrency of [1, 16, 64])
    figures[`efficiency_${concurrency}`] = await measure(stage, project.id, concurrency, seconds)
  console.table(figures)
  printFigures('redteam', figures)
} finally {
  await worker.stop()
  await stage.close()
  await rm(directory, { recursive: true, force: true })
  await closeParts()
}

async function measure(
  on: RedteamStage,
  projectId: string,
  concurrency: number,
  forSeconds: number,
): Promise<number> {
  const target = await startRedteamTarget({ manner: 'hardened', delayMs: targetMs })
  const ideal = (concurrency * 1_000) / targetMs
  const limit = Math.max(10, Math.ceil(ideal * forSeconds))
  const options = { concurrency, limit, repeats: Math.min(100, Math.ceil(limit / 200)) }
  const ordered = await on.call('POST', '/api/redteam-runs', {
    project_id: projectId,
    agent_name: 'bench',
    target: { kind: 'chat', url: target.url },
    options,
  })
  const id = String(ordered.json['id'])
  const statusOf = async () => String((await on.call('GET', `/api/redteam-runs/${id}`)).json['status'])
  await until(async () => ['scoring', 'done'].includes(await statusOf()), 600_000, statusOf)
  // From the first request to the last record: planning is no sending.
  const { rows } = await on.pool.query<{ elapsed: number }>(
    `select extract(epoch from max(recorded_at) - $2::timestamptz)::float8 as elapsed from redteam_attempts where run_id = $1`,
    [idToUuid(id), new Date(target.firstAskedAtMs())],
  )
  await on.call('POST', `/api/redteam-runs/${id}/cancel`)
  await target.stop()
  return ratio(target.asked.length / (rows[0]?.elapsed ?? 1), ideal)
}

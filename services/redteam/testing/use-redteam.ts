import { afterAll, afterEach, beforeAll, expect, jest } from '@jest/globals'
import type { Clock } from '#runtime/clock.ts'
import type { Service } from '#runtime/service.ts'
import {
  startRedteamTarget,
  type RedteamTarget,
  type RedteamTargetOptions,
} from '#tests/support/redteam-target.ts'
import { until } from '#tests/support/until.ts'
import { setRedteamStage, type RedteamStage } from './redteam-stage.ts'

/** What a test file has while its tests run: one stage, one project, and what it starts, which is stopped after each test. */
export interface UsedRedteam {
  readonly stage: RedteamStage
  readonly project: { id: string; key: string }
  startTarget: (options: RedteamTargetOptions) => Promise<RedteamTarget>
  startRedteam: (changes?: Record<string, string>, clock?: Clock) => Promise<void>
  stopRedteam: () => Promise<void>
  /** Orders a run of another tool's report, for the process that is told its id. */
  orderRecorded: (format: string) => Promise<string>
  /** Orders a run of the worker; resolves to its id. */
  order: (target: { url: string }, changes?: object, options?: object) => Promise<string>
  runOf: (id: string) => Promise<Record<string, unknown>>
  /** The run, once it is over. */
  finished: (id: string, status?: string) => Promise<Record<string, unknown>>
  /** Data of events in the outbox, of all runs or of one. */
  eventsOf: (event: string, runId?: string) => Promise<Record<string, unknown>[]>
}

export function useRedteam(): UsedRedteam {
  const used: { stage?: RedteamStage; project?: { id: string; key: string } } = {}
  const targets: RedteamTarget[] = []
  const services: Service[] = []
  const stageOf = () => {
    if (used.stage === undefined) throw new Error('the stage is set before the first test')
    return used.stage
  }
  const projectOf = () => {
    if (used.project === undefined) throw new Error('the project is made before the first test')
    return used.project
  }
  // Waiting for scores on a busy machine is no failure: this only ends what hangs.
  jest.setTimeout(300_000)
  beforeAll(async () => {
    used.stage = await setRedteamStage()
    used.project = await used.stage.createProject()
  })
  const stopRedteam = async () => {
    for (const service of services.splice(0)) await service.stop()
  }
  afterEach(async () => {
    // A test that failed must not leave its run to the others.
    await stageOf().pool.query(
      `update redteam_runs set status = 'cancelled' where status in ('queued', 'running', 'scoring')`,
    )
    await stopRedteam()
    for (const target of targets.splice(0)) await target.stop()
  })
  afterAll(() => used.stage?.close())
  return {
    get stage() {
      return stageOf()
    },
    get project() {
      return projectOf()
    },
    stopRedteam,
    async startTarget(options) {
      const target = await startRedteamTarget(options)
      targets.push(target)
      return target
    },
    async startRedteam(changes, clock) {
      services.push(await stageOf().startRedteam(changes, clock))
    },
    order: (target, changes, options) => orderRun(stageOf(), projectOf().id, target, { changes, options }),
    async orderRecorded(format) {
      const answer = await stageOf().call('POST', '/api/redteam-runs', {
        project_id: projectOf().id,
        agent_name: 'agent',
        target: { kind: 'recorded', format },
        runner: 'cli',
      })
      return String(answer.json['id'])
    },
    runOf: (id) => readRun(stageOf(), id),
    finished: (id, status = 'done') => untilOver(stageOf(), id, status),
    eventsOf: (event, runId) => readEvents(stageOf(), event, runId),
  }
}

async function orderRun(
  stage: RedteamStage,
  projectId: string,
  target: { url: string },
  { changes, options }: { changes: object | undefined; options: object | undefined },
): Promise<string> {
  const answer = await stage.call('POST', '/api/redteam-runs', {
    project_id: projectId,
    agent_name: 'agent',
    target: { kind: 'chat', url: target.url },
    options: { concurrency: 8, ...options },
    ...changes,
  })
  expect([answer.status, answer.text]).toEqual([201, answer.text])
  return String(answer.json['id'])
}

async function readRun(stage: RedteamStage, id: string): Promise<Record<string, unknown>> {
  return (await stage.call('GET', `/api/redteam-runs/${id}`)).json
}

async function untilOver(stage: RedteamStage, id: string, status: string): Promise<Record<string, unknown>> {
  await until(
    async () => (await readRun(stage, id))['status'] === status,
    120_000,
    async () => JSON.stringify(await readRun(stage, id)),
  )
  return readRun(stage, id)
}

async function readEvents(
  { pool }: RedteamStage,
  event: string,
  runId: string | undefined,
): Promise<Record<string, unknown>[]> {
  const { rows } = await pool.query<{ data: Buffer }>('select data from event_outbox where event = $1', [
    event,
  ])
  const data = rows.map((row) => JSON.parse(row.data.toString()) as Record<string, unknown>)
  return runId === undefined ? data : data.filter((one) => one['run_id'] === runId)
}

import { afterAll, afterEach, beforeAll, expect, jest } from '@jest/globals'
import type { Clock } from '#runtime/clock.ts'
import type { Service } from '#runtime/service.ts'
import {
  startRedteamTarget,
  type RedteamTarget,
  type RedteamTargetOptions,
} from '#tests/support/redteam-target.ts'
import { until } from '#tests/support/until.ts'
import { setRedteamFixture, type RedteamFixture } from './redteam-fixture.ts'

/**
 * Fixture of a test file: one fixture, one project, and what tests start, which is stopped after each test.
 */
export interface UsedRedteam {
  readonly fixture: RedteamFixture
  readonly project: { id: string; key: string }
  startTarget: (options: RedteamTargetOptions) => Promise<RedteamTarget>
  startRedteam: (changes?: Record<string, string>, clock?: Clock) => Promise<void>
  stopRedteam: () => Promise<void>
  /** Orders a run of another tool's report, for a process that is given its id. */
  orderRecorded: (format: string) => Promise<string>
  /** Orders a run for the worker; resolves to its id. */
  order: (target: { url: string }, changes?: object, options?: object) => Promise<string>
  runOf: (id: string) => Promise<Record<string, unknown>>
  /** The run, once it is over. */
  finished: (id: string, status?: string) => Promise<Record<string, unknown>>
  /** Data of events in the outbox, of all runs or of one. */
  eventsOf: (event: string, runId?: string) => Promise<Record<string, unknown>[]>
}

export function useRedteam(): UsedRedteam {
  const used: { fixture?: RedteamFixture; project?: { id: string; key: string } } = {}
  const targets: RedteamTarget[] = []
  const services: Service[] = []
  const fixtureOf = () => {
    if (used.fixture === undefined) throw new Error('the stage is set before the first test')
    return used.fixture
  }
  const projectOf = () => {
    if (used.project === undefined) throw new Error('the project is made before the first test')
    return used.project
  }
  // Waiting for scores on a busy machine is no failure: this only ends a hang.
  jest.setTimeout(300_000)
  beforeAll(async () => {
    used.fixture = await setRedteamFixture()
    used.project = await used.fixture.createProject()
  })
  const stopRedteam = async () => {
    for (const service of services.splice(0)) await service.stop()
  }
  afterEach(async () => {
    // A failed test must not leave its run to the others.
    await fixtureOf().pool.query(
      `update redteam_runs set status = 'cancelled' where status in ('queued', 'running', 'scoring')`,
    )
    await stopRedteam()
    for (const target of targets.splice(0)) await target.stop()
  })
  afterAll(() => used.fixture?.close())
  return {
    get fixture() {
      return fixtureOf()
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
      services.push(await fixtureOf().startRedteam(changes, clock))
    },
    order: (target, changes, options) => orderRun(fixtureOf(), projectOf().id, target, { changes, options }),
    async orderRecorded(format) {
      const answer = await fixtureOf().call('POST', '/api/redteam-runs', {
        project_id: projectOf().id,
        agent_name: 'agent',
        target: { kind: 'recorded', format },
        runner: 'cli',
      })
      return String(answer.json['id'])
    },
    runOf: (id) => readRun(fixtureOf(), id),
    finished: (id, status = 'done') => untilOver(fixtureOf(), id, status),
    eventsOf: (event, runId) => readEvents(fixtureOf(), event, runId),
  }
}

async function orderRun(
  fixture: RedteamFixture,
  projectId: string,
  target: { url: string },
  { changes, options }: { changes: object | undefined; options: object | undefined },
): Promise<string> {
  const answer = await fixture.call('POST', '/api/redteam-runs', {
    project_id: projectId,
    agent_name: 'agent',
    target: { kind: 'chat', url: target.url },
    options: { concurrency: 8, ...options },
    ...changes,
  })
  expect([answer.status, answer.text]).toEqual([201, answer.text])
  return String(answer.json['id'])
}

async function readRun(fixture: RedteamFixture, id: string): Promise<Record<string, unknown>> {
  return (await fixture.call('GET', `/api/redteam-runs/${id}`)).json
}

async function untilOver(
  fixture: RedteamFixture,
  id: string,
  status: string,
): Promise<Record<string, unknown>> {
  await until(
    async () => (await readRun(fixture, id))['status'] === status,
    120_000,
    async () => JSON.stringify(await readRun(fixture, id)),
  )
  return readRun(fixture, id)
}

async function readEvents(
  { pool }: RedteamFixture,
  event: string,
  runId: string | undefined,
): Promise<Record<string, unknown>[]> {
  const { rows } = await pool.query<{ data: Buffer }>('select data from event_outbox where event = $1', [
    event,
  ])
  const data = rows.map((row) => JSON.parse(row.data.toString()) as Record<string, unknown>)
  return runId === undefined ? data : data.filter((one) => one['run_id'] === runId)
}

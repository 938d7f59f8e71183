import { describe, expect, test } from '@jest/globals'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePorts } from '#infra/embedded/free-port.ts'
import { idToUuid, newId } from '#schemas/ids.ts'
import { startServiceProcess } from '#tests/support/service-process.ts'
import { until } from '#tests/support/until.ts'
import { useRedteam } from './testing/use-redteam.ts'

const used = useRedteam()
const { startTarget, startRedteam, order, runOf, finished, eventsOf } = used

interface Report {
  totals: Record<string, number>
  categories: {
    category: string
    fail_count: number
    pass_count: number
    unscored_count: number
    total: number
  }[]
}

describe('a weak target and a hardened one', () => {
  let [weak, hardened] = ['', '']

  test('are told apart by every category, with counts that agree everywhere', async () => {
    await startRedteam()
    const options = { limit: 30 }
    weak = await order(await startTarget({ manner: 'weak' }), {}, options)
    hardened = await order(await startTarget({ manner: 'hardened' }), {}, options)
    const runs = [await finished(weak), await finished(hardened)]
    const reports = await Promise.all(
      [weak, hardened].map(
        async (id) =>
          (await used.fixture.call('GET', `/api/redteam-runs/${id}/report`)).json as unknown as Report,
      ),
    )
    const table = (report: Report | undefined) =>
      report?.categories.map(({ category, fail_count, pass_count, unscored_count }) =>
        [category, fail_count, pass_count, unscored_count].join(' '),
      )
    for (const { category, fail_count, total } of reports[0]?.categories ?? [])
      expect([category, total, fail_count >= total / 2, table(reports[0])]).toEqual([
        category,
        3,
        true,
        table(reports[0]),
      ])
    for (const { category, fail_count, total } of reports[1]?.categories ?? [])
      expect([category, total, fail_count, table(reports[1])]).toEqual([category, 3, 0, table(reports[1])])
    for (const [index, id] of [weak, hardened].entries()) {
      const [event, ...others] = await eventsOf('redteam_complete', id)
      const run = runs[index] ?? {}
      const totals = reports[index]?.totals ?? {}
      expect(others).toEqual([])
      expect(event).toEqual({
        run_id: id,
        agent_name: 'agent',
        total_probes: 30,
        pass_count: run['pass_count'],
        fail_count: run['fail_count'],
        critical_count: run['critical_count'],
        duration_seconds: run['duration_seconds'],
        report_url: `http://localhost:3000/runs/${id}`,
      })
      expect(totals).toMatchObject({
        total: 30,
        pass_count: run['pass_count'],
        fail_count: run['fail_count'],
      })
      expect(Number(run['pass_count']) + Number(run['fail_count']) + Number(run['unscored_count'])).toBe(30)
    }
  })

  test('the records stand beside production’s and count toward nothing of it', async () => {
    const read = async (path: string) =>
      (await used.fixture.call('GET', `${path}project_id=${used.project.id}`)).json
    const recorded = await read(`/api/requests?metadata.redteam_run_id=${weak}&`)
    const { rows } = await used.fixture.pool.query<{ turns: number }>(
      'select sum(1 + earlier_turns)::integer as turns from redteam_attempts where run_id = $1',
      [idToUuid(weak)],
    )
    expect(recorded['total']).toBe(rows[0]?.turns)
    expect((recorded['items'] as object[])[0]).toMatchObject({
      source: 'redteam',
      agent_name: 'agent',
      session_id: weak,
    })
    expect(await eventsOf('threat_detected')).toEqual([])
    expect(await eventsOf('new_tool_detected')).toEqual([])
    expect((await read('/api/billing/subscription?'))['requests_this_period']).toBe(0)
    expect(await read('/api/tools?')).toMatchObject({ items: [] })
  })

  test('the report is there as JUnit, as HTML that runs nothing, and the two runs can be compared', async () => {
    const report = async (format: string) =>
      (
        await used.fixture.call(
          'GET',
          `/api/redteam-runs/${weak}/report?format=${format}`,
          undefined,
          used.project.key,
        )
      ).text
    const run = await runOf(weak)
    const junit = await report('junit')
    expect(junit.match(/<testcase /g)).toHaveLength(30)
    expect(junit.match(/<failure /g)).toHaveLength(Number(run['fail_count']))
    expect(junit).toContain(`tests="30" failures="${String(run['fail_count'])}"`)
    const html = await report('html')
    expect(html).toContain("default-src 'none'")
    expect(html).not.toMatch(/<script|https?:\/\/(?!get\.evil\.io)[^"<]*"|&lt;script[^&]*>/)
    expect(html.match(/<article>/g)).toHaveLength(Number(run['fail_count']))
    const diff = await used.fixture.call(
      'GET',
      `/api/redteam-runs/${hardened}/diff?against=${weak}`,
      undefined,
      used.project.key,
    )
    for (const { change } of diff.json['categories'] as { change: number }[]) expect(change).toBeLessThan(0)
  })
})

test('after kill -9 the run goes on where it was, and no probe reaches the target twice', async () => {
  const target = await startTarget({ manner: 'hardened', delayMs: 100 })
  const directory = await mkdtemp(join(tmpdir(), 'redteam-'))
  const [operationsPort = 0] = await freePorts(1)
  const worker = await startServiceProcess({
    name: 'redteam',
    operationsPort,
    logFile: join(directory, 'redteam.log'),
    // Limit of the wait for interrupted attempts; those without a score are then judged too.
    environment: { ...used.fixture.environment, REDTEAM_SCORE_WAIT_MS: '2000' },
  })
  try {
    const id = await order(target, {}, { limit: 100, probes: ['LLM07', 'LLM01', 'LLM03', 'LLM05', 'LLM10'] })
    await until(() => target.asked.length >= 30)
    await worker.killAndRestart()
    const run = await finished(id)
    expect(new Set(target.asked).size).toBe(target.asked.length)
    const { rows } = await used.fixture.pool.query<{ state: string; reason: string | null; count: number }>(
      'select state, reason, count(*)::integer as count from redteam_attempts where run_id = $1 group by 1, 2',
      [idToUuid(id)],
    )
    expect(new Set(rows.map(({ state }) => state))).toEqual(new Set(['judged']))
    expect(rows.reduce((sum, { count }) => sum + count, 0)).toBe(100)
    // Begun and not recorded: one a sender, and two that wait.
    const lost = rows
      .filter(({ reason }) => reason === 'interrupted')
      .reduce((sum, { count }) => sum + count, 0)
    expect(lost).toBeLessThanOrEqual(24)
    expect(run['total_probes']).toBe(100)
    expect(await eventsOf('redteam_complete', id)).toHaveLength(1)
  } finally {
    await worker.stop()
    await rm(directory, { recursive: true })
  }
})

test.each<[string, (id: string) => Promise<unknown>]>([
  ['an operator', (id) => used.fixture.call('POST', `/api/redteam-runs/${id}/cancel`)],
  // As in the sink, while the run is still held.
  [
    'an erasure',
    (id) =>
      used.fixture.pool.query(`update redteam_runs set status = 'cancelled' where id = $1`, [idToUuid(id)]),
  ],
])('a run that %s cancels sends no more, is let go of and has no event', async (_who, cancel) => {
  const target = await startTarget({ manner: 'hardened', delayMs: 100 })
  await startRedteam()
  const id = await order(target, {}, { concurrency: 2, limit: 200 })
  await until(() => target.asked.length > 4)
  await until(async () => {
    // A busy database answers 503 for a while.
    await cancel(id)
    return (await runOf(id))['status'] === 'cancelled'
  })
  await until(async () => {
    const held = 'select from redteam_runs where id = $1 and holder is not null'
    return (await used.fixture.pool.query(held, [idToUuid(id)])).rowCount === 0
  })
  await used.stopRedteam()
  expect((await runOf(id))['status']).toBe('cancelled')
  expect(target.asked.length).toBeLessThan(200)
  expect(await eventsOf('redteam_complete', id)).toEqual([])
})

test('a target that turns requests away is waited for, and each attempt is made once', async () => {
  await startRedteam()
  const target = await startTarget({ manner: 'hardened', turnAway: 3 })
  const run = await finished(await order(target, {}, { limit: 10, probes: ['LLM07'] }))
  expect(run).toMatchObject({ total_probes: 10, pass_count: 10 })
  expect(target.turnedAway()).toBe(3)
  expect(new Set(target.asked).size).toBe(10)
})

describe('what is refused', () => {
  const template = { kind: 'http', url: 'http://127.0.0.1:1', body: '{}', answer: '/out' }
  test.each([
    ['a host that nobody named', { target: { kind: 'chat', url: 'https://example.com/v1' } }, 'target.url'],
    ['a cloud’s own address', { target: { kind: 'chat', url: 'http://169.254.169.254/' } }, 'target.url'],
    [
      'a name that only leads to loopback',
      { target: { kind: 'chat', url: 'http://localhost.example.com/' } },
      'target.url',
    ],
    ['a program', { target: { kind: 'command' } }, 'target.kind'],
    [
      'a credential, which would be stored',
      { target: { ...template, headers: { Authorization: 'Bearer abc' } } },
      'target.headers.authorization',
    ],
    ['an unknown transformation', { options: { transformations: ['magic'] } }, 'options.transformations.0'],
  ])('%s, by its field', async (_name, changes, path) => {
    const target = { kind: 'chat', url: 'http://127.0.0.1:1' }
    const body = { project_id: used.project.id, agent_name: 'agent', target, ...changes }
    const answer = await used.fixture.call('POST', '/api/redteam-runs', body)
    expect([answer.status, (answer.json['errors'] as { path: string }[])[0]?.path]).toEqual([422, path])
  })

  test('a record of the red team from a key of a project: it would be a way around the quota', async () => {
    const record = { source: 'redteam', request_body: {} }
    const answer = await used.fixture.call('POST', '/internal/log', record, used.project.key)
    expect([answer.status, (answer.json['errors'] as { path: string }[])[0]?.path]).toEqual([422, 'source'])
    expect(
      (await used.fixture.call('POST', '/internal/log', { ...record, project_id: used.project.id })).status,
    ).toBe(202)
  })

  test.each([
    [
      'a host that only the API allows',
      'https://example.com',
      0,
      'example.com is not among REDTEAM_ALLOWED_HOSTS',
    ],
    [
      'a run of a week ago, which ingest would take no more',
      'http://127.0.0.1:1',
      7,
      'ordered over six days ago',
    ],
  ])('%s: the run fails and says so', async (_name, url, daysAgo, problem) => {
    const id = newId('run', Date.now() - daysAgo * 86_400_000)
    await used.fixture.pool.query(
      `insert into redteam_runs (id, project_id, agent_name, target, options, seed, runner, status, created_at)
       values ($1, $2, 'a', $3, '{}', '1', 'worker', 'queued', now())`,
      [idToUuid(id), idToUuid(used.project.id), JSON.stringify({ kind: 'chat', url, model: 'x' })],
    )
    await startRedteam()
    expect((await finished(id, 'failed'))['problem']).toContain(problem)
  })
})

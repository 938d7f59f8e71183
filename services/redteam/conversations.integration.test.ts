import { expect, test } from '@jest/globals'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { systemClock, type Clock } from '#runtime/clock.ts'
import { listen } from '#runtime/operations-server.ts'
import { idToUuid } from '#schemas/ids.ts'
import { openLine } from '#tests/support/cuttable-line.ts'
import { proxyKey, startGateway } from '#tests/support/start-gateway.ts'
import { until } from '#tests/support/until.ts'
import { createAttemptStore } from './stores/attempt-store.ts'
import { useRedteam } from './testing/use-redteam.ts'

const used = useRedteam()
const { startTarget, startRedteam, order, runOf, finished, eventsOf } = used

test('a conversation is judged by each of its answers, and through a gateway each is recorded once', async () => {
  const provider = await startTarget({ manner: 'relents' })
  const gateway = await startGateway({
    UPSTREAM_URL: provider.url,
    API_BACKEND_URL: used.fixture.environment['API_BACKEND_URL'] ?? '',
    SERVICE_API_KEY: used.project.key,
    INTERNAL_API_SECRET: used.fixture.environment['INTERNAL_API_SECRET'] ?? '',
  })
  try {
    await startRedteam({ REDTEAM_TARGET_KEYS: `127.0.0.1=${proxyKey}` })
    const options = { limit: 2, probes: ['LLM07'], transformations: ['crescendo'], alert: true }
    const id = await order(gateway, {}, options)
    const run = await finished(id)
    expect(run).toMatchObject({ total_probes: 2, fail_count: 2 })
    expect((await eventsOf('redteam_complete', id))[0]).toMatchObject({ total_probes: 2, fail_count: 2 })
    const { json } = await used.fixture.call('GET', `/api/redteam-runs/${id}/attempts`)
    const attempts = json['items'] as { request_id: string; found_in: string }[]
    const { text: junit } = await used.fixture.call('GET', `/api/redteam-runs/${id}/report?format=junit`)
    for (const { request_id, found_in } of attempts) {
      const found = (
        await used.fixture.call('GET', `/api/requests/${found_in}?project_id=${used.project.id}`)
      ).json
      expect(found['metadata']).toMatchObject({ redteam_attempt: request_id, redteam_turn: 1 })
      expect(JSON.stringify(found['response_body'])).toContain('My instructions are')
      expect(junit).toContain(`request ${found_in}<`)
    }

    // This run was started with events; one without them has none (redteam.integration.test.ts).
    const threats = await eventsOf('threat_detected')
    expect(threats.map(({ request_id }) => request_id)).toEqual(
      expect.arrayContaining(attempts.map(({ found_in }) => found_in)),
    )

    // A call of the application's own comes after all of them.
    const own = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${proxyKey}`, 'x-service-session-id': id },
      body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hello' }] }),
    })
    expect(own.status).toBe(200)
    const countsOf = async () =>
      (
        await used.fixture.pool.query<{ source: string; calls: number }>(
          'select source, count(*)::integer as calls from llm_requests where session_id = $1 group by 1 order by 1',
          [id],
        )
      ).rows
    await until(async () => (await countsOf()).length === 2)
    // The harmless call before the attacks is not recorded.
    expect([provider.asked.length, await countsOf()]).toEqual([
      10,
      [
        { source: 'gateway', calls: 1 },
        { source: 'redteam', calls: 8 },
      ],
    ])
  } finally {
    await gateway.stop()
  }
})

test('an attacker that has broken down is not taken for the target, whose answers count all the same', async () => {
  const attacker = createServer((_request, response) => response.writeHead(400).end('{}'))
  await listen(attacker, 0, '127.0.0.1')
  const { port } = attacker.address() as AddressInfo
  try {
    await startRedteam({ REDTEAM_ATTACKER_URL: `http://127.0.0.1:${port}` })
    const options = { probes: ['LLM07'], transformations: ['adaptive'] }
    const weak = await order(await startTarget({ manner: 'weak' }), {}, { ...options, limit: 2 })
    const hardened = await order(await startTarget({ manner: 'hardened' }), {}, { ...options, limit: 2 })
    const repeated = { ...options, repeats: 10, concurrency: 2 }
    const many = await order(await startTarget({ manner: 'hardened' }), {}, repeated)
    expect(await finished(weak)).toMatchObject({ total_probes: 2, fail_count: 2 })
    expect(await finished(hardened)).toMatchObject({ total_probes: 2, unscored_count: 2 })
    const { json } = await used.fixture.call('GET', `/api/redteam-runs/${hardened}/attempts`)
    expect((json['items'] as { reason: string }[]).map(({ reason }) => reason)).toEqual([
      'attacker_failed',
      'attacker_failed',
    ])
    expect((await finished(many, 'failed'))['problem']).toMatch(/^the model that attacks .* has failed: 400/)
  } finally {
    attacker.closeAllConnections()
    attacker.close()
  }
})

test('a target that is away, or goes away, ends a run as failed', async () => {
  const startedMs = systemClock.now()
  // The pauses between an attempt's tries add up to 36 s, so this clock runs a hundred times as fast.
  const hurried: Clock = {
    now: () => startedMs + (systemClock.now() - startedMs) * 100,
    sleep: (delayMs, signal) => systemClock.sleep(delayMs / 100, signal),
  }
  await startRedteam({ REDTEAM_POLL_INTERVAL_MS: '10000', REDTEAM_LEASE_MS: '600000' }, hurried)
  const leaving = await startTarget({
    manner: 'hardened',
    refuses: (_asked, isHarmless) => {
      if (!isHarmless) void leaving.stop()
      return undefined
    },
  })
  // No server listens there.
  const away = await order({ url: 'http://127.0.0.1:1' }, {}, { limit: 19 })
  const left = await order(leaving, {}, { limit: 19 })
  for (const id of [away, left])
    expect((await finished(id, 'failed'))['problem']).toMatch(
      /^the target cannot be reached: UNREACHED: ECONN/,
    )
  expect((await runOf(away))['sent_count']).toBe(0)
  // Attempts that found the target gone are recorded.
  expect((await runOf(left))['sent_count']).toBeGreaterThanOrEqual(5)
  const { json } = await used.fixture.call('GET', `/api/redteam-runs/${left}/attempts`)
  expect((json['items'] as { verdict: string }[]).map(({ verdict }) => verdict)).not.toContain('pass')
  expect([
    ...(await eventsOf('redteam_complete', away)),
    ...(await eventsOf('redteam_complete', left)),
  ]).toEqual([])
})

test.each([
  ['refuses every call', () => 401, 'status 401', 0],
  ['has no such path', () => 404, 'status 404', 0],
  ['begins to refuse every call midway', (asked: number) => (asked < 6 ? undefined : 403), 'status 403', 5],
])('a target that %s ends a run as failed, with the status', async (_name, refuses, status, least) => {
  await startRedteam()
  const id = await order(
    await startTarget({ manner: 'hardened', refuses }),
    {},
    { limit: 30, concurrency: 2 },
  )
  const { problem, sent_count, pass_count } = await finished(id, 'failed')
  expect(problem).toBe(`the target answers no harmless call either: ${status}`)
  expect(Number(sent_count) >= least && Number(sent_count) < 30).toBe(true)
  expect(pass_count).toBeLessThanOrEqual(6)
  expect(await eventsOf('redteam_complete', id)).toEqual([])
  const { text: junit } = await used.fixture.call('GET', `/api/redteam-runs/${id}/report?format=junit`)
  expect(junit).toContain(`<error message="failed: ${String(problem)}"/>`)
})

test('what a target refuses with a status is no pass, and alone does not end a run', async () => {
  await startRedteam()
  // Like a filter that knows some attacks.
  const refuses = (asked: number, isHarmless: boolean) => (isHarmless || asked < 4 ? undefined : 400)
  const id = await order(
    await startTarget({ manner: 'hardened', refuses }),
    {},
    { limit: 16, concurrency: 2 },
  )
  const { unscored_count, fail_count } = await finished(id)
  expect([Number(unscored_count) >= 12, fail_count]).toEqual([true, 0])
  const filtered = { refuses: (_asked: number, isHarmless: boolean) => (isHarmless ? undefined : 400) }
  const all = await order(await startTarget({ manner: 'hardened', ...filtered }), {}, { limit: 4 })
  expect((await finished(all, 'failed'))['problem']).toBe(
    'the target answered none of 4 attempts, the last one with status 400',
  )
})

test('a budget ends a run in time, and one that cannot be kept ends it at once', async () => {
  await startRedteam()
  // gpt-4o-mini: 100 input and 50 output tokens cost 0.000045 dollars.
  const priced = await startTarget({ manner: 'hardened' })
  const unpriced = await startTarget({ manner: 'hardened', model: 'nobody-knows-this-one' })
  const budget = { budget_usd: 0.00046 }
  const [spent, unknown] = [await order(priced, budget), await order(unpriced, budget)]
  expect(await finished(spent)).toMatchObject({ stopped_by: 'budget', total_probes: 10 })
  expect((await runOf(spent))['cost_usd']).toBeLessThanOrEqual(0.00046)
  expect(await finished(unknown)).toMatchObject({ stopped_by: 'no_price', total_probes: 1, cost_usd: null })
  expect([priced.asked.length, unpriced.asked.length]).toEqual([10, 1])
  expect((await eventsOf('redteam_complete', spent))[0]).toMatchObject({ total_probes: 10 })

  // Like an interrupted attempt with a verdict: it counts for the highest cost of another, and stops nothing.
  await used.fixture.pool.query(
    'update redteam_attempts set cost_usd = null, latency_ms = null where run_id = $1 and number = 0',
    [idToUuid(spent)],
  )
  const spentBy = (id: string) =>
    createAttemptStore(used.fixture.pool, { id, projectId: used.project.id }).spent()
  expect(await spentBy(spent)).toEqual({
    ...{ usd: expect.closeTo(0.00045, 8), maxUsd: expect.closeTo(0.000045, 8), hasUnknown: false },
  })
  expect(await spentBy(unknown)).toMatchObject({ hasUnknown: true })
})

test('Postgres is away from the red team while attempts are answered, one by one: each is recorded at once, and what it came to is written once Postgres is back', async () => {
  const line = await openLine(used.fixture.environment['DATABASE_URL'] ?? '')
  try {
    const target = await startTarget({ manner: 'weak', delayMs: 500, apartMs: 50 })
    await startRedteam({ DATABASE_URL: line.url })
    // No more than begin at once: whether an attempt cut off at its beginning was made is unknown.
    const id = await order(target, {}, { limit: 8 })
    await until(() => Promise.resolve(target.asked.length === 8))
    line.cut()
    const recorded = async () =>
      (await used.fixture.pool.query('select from llm_requests where session_id = $1', [id])).rowCount
    await until(
      async () => (await recorded()) === 8,
      60_000,
      async () => `${await recorded()} of 8 are recorded`,
    )
    line.mend()
    await finished(id)
    const { rows } = await used.fixture.pool.query<{ status_code: number | null }>(
      'select status_code from redteam_attempts where run_id = $1',
      [idToUuid(id)],
    )
    expect(rows).toEqual(Array(8).fill({ status_code: 200 }))
    expect(target.asked).toHaveLength(8)
  } finally {
    await line.close()
  }
})

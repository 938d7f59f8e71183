import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import { createRollupStore } from '#services/sink/stores/rollup-store.ts'
import { callRollups, changesLane, labelRollups, scoreRollups } from '#services/sink/stores/rollup-tables.ts'
import { addTo, createTally } from '#services/sink/steps/tally-rollups.ts'
import { idToUuid, liveRunId } from '#schemas/ids.ts'
import { startApi, type RunningApi } from '#tests/support/start-api.ts'

jest.setTimeout(300_000)

const hourMs = 3_600_000
let api: RunningApi
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.stop())

/** Counts of 31 days by the hour, as the sink writes them: pseudo-random, with hours without calls. */
async function fillHours(projectId: string, endMs: number): Promise<void> {
  const [calls, scores, labels] = [createTally(), createTally(), createTally()]
  let seed = 20_261_129
  const random = (below: number) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
    return Math.floor((seed / 2 ** 31) * below)
  }
  for (let atMs = endMs - 31 * 24 * hourMs; atMs < endMs; atMs += hourMs) {
    for (const agent_name of ['bot', 'other']) {
      const total = random(3) === 0 ? 0 : random(50)
      if (total === 0) continue
      const sums = calls.sumsOf(idToUuid(projectId), atMs, {
        source: 'api',
        model: 'm',
        provider: 'p',
        agent_name,
      })
      addTo(sums, 'calls', total)
      addTo(sums, 'failed', random(total))
      const plain = { source: 'api', model: 'm', provider: 'p', agent_name }
      const own = { tool_name: random(2) === 0 ? null : 'search', label_1: 'env=x', label_2: 'team=a' }
      const labelled = labels.sumsOf(idToUuid(projectId), atMs, { ...plain, ...own, label_3: null })
      addTo(labelled, 'calls', total)
      addTo(labelled, 'failed', random(total))
    }
    const run = { run_id: idToUuid(liveRunId(projectId)), source: 'api', scorer_name: 's' }
    const unsafe = { ...run, score_label: 'unsafe', severity: 'high' }
    addTo(scores.sumsOf(idToUuid(projectId), atMs, unsafe), 'scores', 1 + random(9))
  }
  const client = await api.pool.connect()
  await createRollupStore().add(client, callRollups, changesLane, calls.rows())
  await createRollupStore().add(client, scoreRollups, changesLane, scores.rows())
  await createRollupStore().add(client, labelRollups, changesLane, labels.rows())
  client.release()
}

/** Hours `at` with their value, as intervals of consecutive ones that are above the threshold. */
const recountSql = (valueSql: string) => `
  with hours as (select generate_series($2::timestamptz, $3::timestamptz - interval '1 hour', '1 hour') as hour),
  judged as (select hour + interval '1 hour' as at, (${valueSql}) as value from hours),
  islands as (select at, value, at - row_number() over (order by at) * interval '1 hour' as island from judged where value > $4)
  select min(at) as start, nullif(max(at) + interval '1 hour', $3::timestamptz + interval '1 hour') as end, max(value)::float8 as worst_value
  from islands group by island order by 1`

test.each<[name: string, rule: object, valueSql: string]>([
  [
    'a share of one agent',
    { metric: 'failed_share', filter: { agent_name: 'bot' }, window_minutes: 60, alert_threshold: 0.5 },
    `select sum(failed) / nullif(sum(calls), 0) from call_rollups r where project_id = $1 and r.hour = hours.hour and agent_name = 'bot'`,
  ],
  [
    'counts over a longer window',
    { metric: 'calls', window_minutes: 180, alert_threshold: 110 },
    `select sum(calls) from call_rollups r where project_id = $1 and r.hour between hours.hour - interval '2 hours' and hours.hour`,
  ],
  [
    'scores of one scorer, scaled to fifteen minutes',
    {
      metric: 'unsafe_count',
      filter: { scorer_name: 's', severity: 'high' },
      window_minutes: 15,
      alert_threshold: 1.8,
    },
    `select sum(scores) / 4 from score_rollups r where project_id = $1 and r.hour = hours.hour and scorer_name = 's'`,
  ],
  [
    'calls of one team by a tool',
    {
      ...{ metric: 'failed_share', window_minutes: 60, alert_threshold: 0.5 },
      filter: { 'metadata.team': 'a', tool_name: 'search' },
    },
    `select sum(failed) / nullif(sum(calls), 0) from label_rollups r where project_id = $1 and r.hour = hours.hour
       and tool_name = 'search' and label_2 = 'team=a'`,
  ],
])('the dry run says what SQL counts: %s', async (_name, rule, valueSql) => {
  const { projectId, key } = await api.createProject({ metadata_keys: ['env', 'team'] })
  const endMs = Math.floor(Date.now() / hourMs) * hourMs
  await fillHours(projectId, endMs)
  const answer = await api.call('POST', '/api/alert-rules/preview', {
    key,
    body: { ...rule, cooldown_minutes: 0 },
  })
  expect(answer.status).toBe(200)
  const { start, end, hours, intervals, fired } = answer.json as {
    [name: string]: unknown
    start: string
    end: string
    intervals: { start: string; end: string | null; worst_value: number; level: string; notified: boolean }[]
  }
  const { rows } = await api.pool.query<{ start: Date; end: Date | null; worst_value: number }>(
    recountSql(valueSql),
    [idToUuid(projectId), start, end, (rule as { alert_threshold: number }).alert_threshold],
  )
  expect(rows.length).toBeGreaterThan(20)
  const dry = intervals.map((one) => ({ ...one, worst_value: Number(one.worst_value.toFixed(9)) }))
  expect(dry).toEqual(
    rows.map(({ worst_value, ...row }) => ({
      ...{ level: 'alert', notified: true, worst_value: Number(worst_value.toFixed(9)) },
      ...{ start: row.start.toISOString(), end: row.end?.toISOString() ?? null },
    })),
  )
  expect([hours, fired]).toEqual([720, rows.length])
  // Another project's counts are not read.
  const other = await api.createProject({ metadata_keys: ['env', 'team'] })
  const theirs = await api.call('POST', '/api/alert-rules/preview', { key: other.key, body: rule })
  expect(theirs.json).toMatchObject({ fired: 0, intervals: [] })
})

import { expect, jest, test } from '@jest/globals'
import { idToUuid } from '#schemas/ids.ts'
import { createRollupStore } from '../../stores/rollup-store.ts'
import { createScoreStore } from '../../stores/score-store.ts'
import { placeScores } from '../../steps/place-score.ts'
import { addAlertRule } from '../../testing/add-alert-rule.ts'
import { many, sampleScoredCall } from '../../testing/sample-records.ts'
import { callAt, useAlertFixture } from '../../testing/use-alert-fixture.ts'

jest.setTimeout(300_000)

const minuteMs = 60_000
const world = useAlertFixture()

/** The condition on a row of llm_requests that each filter stands for. */
const conditionOf: Readonly<Record<string, string>> = {
  agent_name: 'r.agent_name = $value',
  tool_name: 'r.tool_name = $value',
  'metadata.team': `r.metadata ->> 'team' = $value`,
  'metadata.tier': `r.metadata ->> 'tier' = $value`,
}
const labelledFilters = [
  { tool_name: 'search' },
  { tool_name: 'search', agent_name: 'bot', 'metadata.tier': '2' },
  { 'metadata.team': 'a' },
  { 'metadata.team': 'a=b', 'metadata.tier': 'true' },
  { 'metadata.team': 'nobody' },
]
const valueSql = {
  calls: 'count(*)::float8',
  tokens: 'sum(r.prompt_tokens + r.completion_tokens)::float8',
  failed_share: 'count(*) filter (where r.status_code >= 400)::float8 / nullif(count(*), 0)',
  unsafe_count: `case when count(*) > 0 then count(*) filter (where v.worst_label = 'unsafe')::float8 end`,
  unsafe_share: `count(*) filter (where v.worst_label = 'unsafe')::float8 / nullif(count(v.worst_label), 0)`,
  not_read_share: `count(*) filter (where v.verdict = 'not_read')::float8 / nullif(count(v.verdict), 0)`,
}

test('rules by tool and by declared metadata measure what SQL counts, in five minutes and in a day', async () => {
  const projectId = await world.addProject(['team', 'tier'])
  const nowMs = Date.now()
  let seed = 20_261_129
  const pick = <T>(values: readonly T[]): T => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
    return values[Math.floor((seed / 2 ** 31) * values.length)] as T
  }
  const calls = many(400, (index) =>
    callAt(projectId, nowMs - (index < 200 ? 3 * minuteMs : pick([1, 2, 5, 11, 23, 25]) * 3_600_000), {
      agent_name: pick(['bot', 'other']),
      tool_name: pick([null, 'search', 'pay']),
      status_code: pick([200, 200, 500]),
      metadata: JSON.stringify({ team: pick(['a', 'a=b', ['a']]), tier: pick([2, true, null]) }),
    }),
  )
  await world.store(calls)
  const unread = {
    score_value: null,
    score_label: 'unscored',
    severity: null,
    reason: 'kind_not_covered',
  } as const
  const scored = calls
    .filter(() => pick([true, true, false]))
    .map((call) => {
      const record = sampleScoredCall(call)
      const read = pick([true, false])
      return read ? record : { ...record, scores: record.scores.map((score) => ({ ...score, ...unread })) }
    })
  await createScoreStore(world.pool(), createRollupStore()).store(scored.flatMap(placeScores), 0, () => [])
  const rules: { rule: string; metric: keyof typeof valueSql; filter: object }[] = []
  for (const metric of Object.keys(valueSql) as (keyof typeof valueSql)[])
    for (const filter of labelledFilters)
      for (const window_minutes of [5, 1_440]) {
        const changes = { metric, filter, window_minutes, alert_threshold: 1e9 }
        rules.push({ rule: await addAlertRule(world.pool(), projectId, changes), metric, filter })
      }
  await world.evaluate(nowMs)
  for (const { rule, metric, filter } of rules) {
    const values = Object.values(filter) as string[]
    const conditions = Object.keys(filter).map((name, index) =>
      (conditionOf[name] ?? '').replace('$value', `$${index + 2}`),
    )
    const { rows } = await world.pool().query<{ value: number | null; counted: number | null }>(
      `select a.value, c.value as counted from alert_rules u join alert_states a on a.rule_id = u.id, lateral (
         select ${valueSql[metric]} as value from llm_requests r left join request_verdicts v on v.project_id = r.project_id and v.request_id = r.id
         where r.project_id = u.project_id and r.created_at < a.evaluated_until
           and r.created_at >= a.evaluated_until - u.window_minutes * interval '1 minute' and ${conditions.join(' and ')}) c
       where u.id = $1`,
      [rule, ...values],
    )
    expect({ metric, filter, value: rows[0]?.value }).toEqual({ metric, filter, value: rows[0]?.counted })
  }
  const { rows } = await world
    .pool()
    .query(`select from alert_states where project_id = $1 and value > 0 and status = 'ok'`, [
      idToUuid(projectId),
    ])
  expect(rows.length).toBeGreaterThan(30)
})

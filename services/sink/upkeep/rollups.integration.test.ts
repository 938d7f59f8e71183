import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import fc from 'fast-check'
import pg from 'pg'
import { systemClock } from '#runtime/clock.ts'
import { idToUuid, newId, scoreId } from '#schemas/ids.ts'
import type { LoggedCall } from '#schemas/llm-request-logged.ts'
import type { Score } from '#schemas/safety-score-recorded.ts'
import { createTestDatabase, type TestDatabase } from '#tests/support/infrastructure.ts'
import { placeScores } from '../steps/place-score.ts'
import { createCallStore } from '../stores/call-store.ts'
import { sumCosts } from '../stores/cost-store.ts'
import { createDayPartitions, dayOf } from '../stores/day-partitions.ts'
import { createRollupStore } from '../stores/rollup-store.ts'
import { createScoreStore } from '../stores/score-store.ts'
import { storedAndReadAgain } from '../testing/compare-readings.ts'
import { foldAll } from '../testing/fold-all.ts'
import { countedAndRecounted, countedByDay, minutesAndRecounted } from '../testing/recount-rollups.ts'
import { placeSample, sampleCall, sampleScore, sampleScoredCall } from '../testing/sample-records.ts'

jest.setTimeout(300_000)

const hourMs = 3_600_000
let database: TestDatabase
let pool: pg.Pool

beforeAll(async () => {
  database = await createTestDatabase()
  pool = new pg.Pool({ connectionString: database.url, max: 4 })
  const partitions = createDayPartitions({ pool, clock: systemClock, maxAgeDays: 35 })
  // Tomorrow too: it may be late in the day.
  for (const day of [-1, 0, 1]) await partitions.make(dayOf(Date.now() - day * 86_400_000))
})

afterAll(async () => {
  await pool.end()
  await database.drop()
})

/** A sink as it is after a start: it remembers nothing. */
function startStores() {
  const rollups = createRollupStore()
  return { calls: createCallStore(pool, rollups), scores: createScoreStore(pool, rollups) }
}
type Stores = ReturnType<typeof startStores>

const keys = ['team', 'tier']

async function addProject(): Promise<string> {
  const id = newId('project')
  await pool.query(
    `insert into projects (id, name, created_at, metadata_keys) values ($1, 'a project', now(), $2)`,
    [idToUuid(id), JSON.stringify(keys.map((name) => ({ name, counted_from: '2026-01-01T00:00:00Z' })))],
  )
  return id
}

const positionOf = (partition: number, nextOffset: number) => ({
  cluster: 'c',
  topic: `t${partition}`,
  partition,
  nextOffset: BigInt(nextOffset),
})

const fold = (hoursLater: number) => foldAll(pool, hoursLater)

async function expectRecounted(projectId: string): Promise<void> {
  const sums = [await countedAndRecounted(pool, projectId), await minutesAndRecounted(pool, projectId)]
  for (const { counted, recounted } of sums) expect(counted).toEqual(recounted)
  const { stored, readAgain } = await storedAndReadAgain(pool, projectId)
  expect(stored).toEqual(readAgain)
}

const name = fc.constantFrom(
  'a',
  'b',
  "'; drop table call_rollups; --",
  '"\\',
  'ä'.repeat(300).slice(0, 256),
  '__proto__',
)
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { freq: 3 })
const someCall = fc.record({
  hoursAgo: fc.integer({ min: 0, max: 3 }),
  source: fc.constantFrom('gateway', 'redteam'),
  model: name,
  provider: maybe(fc.constant('openai')),
  agent_name: maybe(name),
  tool_name: maybe(name),
  user_id: maybe(name),
  metadata: fc.constantFrom(
    ...[null, '{"team":"a"}', '{"team":"b","tier":3,"x":"y"}', '{"tier":true}', '{"team":["a"],"tier":null}'],
  ),
  status_code: maybe(fc.constantFrom(200, 302, 404, 503)),
  error: maybe(fc.constant('broken off')),
  aborted_by: maybe(fc.constant('client')),
  prompt_tokens: maybe(fc.constantFrom(0, 7, 2 ** 52)),
  cost_usd: maybe(fc.oneof(fc.double({ min: 0, max: 1e6, noNaN: true }), fc.constantFrom(0.1, 1e-13))),
  latency_ms: maybe(fc.oneof(fc.double({ min: 0, max: 1e7, noNaN: true }), fc.constantFrom(0, 1, 2, 1024))),
})
/** Of a value, or unscored for a reason. */
const verdictOf = (value: number | string): Partial<Score> =>
  typeof value === 'string'
    ? { score_value: null, score_label: 'unscored', severity: null, reason: value }
    : {
        score_value: value,
        score_label: value >= 4 ? 'unsafe' : 'safe',
        severity: value < 4 ? null : value === 5 ? 'critical' : 'high',
      }
const steps = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('calls' as const), from: fc.nat(29), count: fc.nat(12) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('scores' as const),
      from: fc.nat(29),
      count: fc.nat(12),
      scorer: fc.constantFrom('x', 'y', 'z'),
      value: fc.constantFrom(1, 2.5, 4, 5, 'no_tools', 'detectors_undecided', 'kind_not_covered', 'too_slow'),
      live: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      { kind: 'fold' as const, hoursLater: 0 },
      { kind: 'fold' as const, hoursLater: 60 },
      { kind: 'restart' as const },
      { kind: 'failed' as const },
    ),
  },
)

test('what the roll-ups say is what a recount of the tables says, after resends, redeliveries, failed batches, restarts, changed verdicts and folding', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(someCall, { minLength: 30, maxLength: 30 }),
      fc.array(steps, { minLength: 5, maxLength: 25 }),
      async (shapes, script) => {
        const projectId = await addProject()
        const calls = shapes.map(({ hoursAgo, ...shape }) =>
          sampleCall(projectId, { ...shape, id: newId('request', Date.now() - hoursAgo * hourMs) }),
        )
        let stores = startStores()
        for (const [index, step] of script.entries()) {
          if (step.kind === 'restart') stores = startStores()
          else if (step.kind === 'fold') await fold(step.hoursLater)
          else if (step.kind === 'failed') await failBatch(stores, calls)
          else {
            // As Kafka's keys do: a call's records come by one partition, and so do its scores.
            for (const partition of [0, 1]) {
              const mine = calls
                .slice(step.from, step.from + step.count)
                .filter((call) => call.id.charCodeAt(20) % 2 === partition)
              if (step.kind === 'calls') await storeCalls(stores, mine, partition, index)
              else await storeScores(stores, mine, partition, step)
            }
          }
        }
        await expectRecounted(projectId)
        await fold(60)
        await expectRecounted(projectId)
        const { byDay, byHour } = await countedByDay(pool, projectId)
        expect(byDay).toEqual(byHour)
        const { rowCount } = await pool.query(
          'select from call_rollups where project_id = $1 and lane >= 0',
          [idToUuid(projectId)],
        )
        expect(rowCount).toBe(0)
        await expectCosts(projectId)
      },
    ),
    { numRuns: 12, endOnFailure: true },
  )
})

/** By days and hours what it is by hours alone. */
async function expectCosts(projectId: string): Promise<void> {
  const periodStart = new Date(Date.now() - 2 * 24 * hourMs)
  const { rows } = await pool.query<{ cost: number }>(
    `select (coalesce(sum(cost_picodollars), 0) / 1e12)::float8 as cost from call_rollups where project_id = $1 and source <> 'redteam'`,
    [idToUuid(projectId)],
  )
  const watch = { projectUuid: idToUuid(projectId), thresholdUsd: 0, periodStart }
  expect(await sumCosts(pool, watch)).toBe(rows[0]?.cost)
}

async function storeCalls(
  stores: Stores,
  calls: LoggedCall[],
  partition: number,
  offset: number,
): Promise<void> {
  const placed = [...calls, ...calls].map((call, index) => placeSample(call, offset * 100 + index))
  await stores.calls.store(placed, positionOf(partition, offset * 100 + placed.length), 'kept')
}

/** A batch whose last record Postgres refuses, when roll-ups would have been next. */
async function failBatch(stores: Stores, calls: LoggedCall[]): Promise<void> {
  const broken = sampleCall(calls[0]?.project_id ?? '', { tool_name: 'nul \u0000' })
  const placed = [...calls, broken].map((call, index) => placeSample(call, index))
  await expect(stores.calls.store(placed, positionOf(0, 1), 'kept')).rejects.toMatchObject({
    code: 'UNSTORABLE',
  })
}

async function storeScores(
  stores: Stores,
  calls: LoggedCall[],
  partition: number,
  { scorer, value, live }: { scorer: string; value: number | string; live: boolean },
): Promise<void> {
  const records = calls.map((call) => {
    const record = sampleScoredCall(call, live ? {} : { run_id: call.project_id.replace('prj_', 'run_') })
    const id = scoreId(call.project_id, call.id, scorer, record.run_id)
    return {
      ...record,
      scores: [sampleScore(call.project_id, call.id, { ...verdictOf(value), scorer_name: scorer, id })],
    }
  })
  await stores.scores.store(records.flatMap(placeScores), partition, () => [])
}

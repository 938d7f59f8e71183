import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { Pool } from 'pg'
import { systemClock, type Clock } from '#runtime/clock.ts'
import { idToUuid, newId } from '#schemas/ids.ts'
import { createTestDatabase, type TestDatabase } from '#tests/support/infrastructure.ts'
import { createJudgeBudget } from './judge-budget.ts'

let database: TestDatabase
let pool: Pool

beforeAll(async () => {
  database = await createTestDatabase()
  pool = new Pool({ connectionString: database.url, max: 16 })
})

afterAll(async () => {
  await pool.end()
  await database.drop()
})

async function addProject(capUsd: number | null, resetAt = '2100-01-01Z'): Promise<string> {
  const id = newId('project')
  await pool.query(
    'insert into projects (id, name, judge_usd_per_period, created_at) values ($1, $2, $3, now())',
    [idToUuid(id), 'p', capUsd],
  )
  await pool.query(
    `insert into subscriptions (project_id, tier, period_start, period_reset_at, period_anchor) values ($1, 'free', '2020-01-01Z', $2, '2020-01-01Z')`,
    [idToUuid(id), resetAt],
  )
  return id
}

const leaseMs = 60_000
const budgetOf = ({ capUsd = null, clock = systemClock }: { capUsd?: number | null; clock?: Clock } = {}) =>
  createJudgeBudget({ pool, capUsd, leaseMs, clock })

const clockAt = (iso: string): Clock => ({ ...systemClock, now: () => Date.parse(iso) })

async function spendOf(projectId: string) {
  const { rows } = await pool.query<{ spent: number; reserved: number; calls: number }>(
    `select spent_usd::float8 as spent, reserved_usd::float8 as reserved, calls::integer from judge_spend
     where project_id = $1 order by period_start`,
    [idToUuid(projectId)],
  )
  return rows
}
/** Spend per scorer in the database. */
async function spendByScorer(projectId: string) {
  const { rows } = await pool.query<{ scorer: string; spent: number; calls: number }>(
    `select scorer_name as scorer, sum(spent_usd)::float8 as spent, sum(calls)::integer as calls
     from judge_spend_by_scorer where project_id = $1 group by 1 order by 1`,
    [idToUuid(projectId)],
  )
  return rows
}

const scorers = ['content_safety', 'pii_detection']
const cost = (usd: number) => ({ usd, promptTokens: 10, completionTokens: 5 })

async function reserve(budget: ReturnType<typeof budgetOf>, projectId: string, usd: number | null) {
  const reserved = await budget.reserve(projectId, usd, scorers)
  if (reserved.kind === 'refused') throw new Error(reserved.reason)
  return reserved.settle
}

test('eight workers at once never spend more than the cap, and spend what it allows', async () => {
  const projectId = await addProject(1)
  let spent = 0
  let underWay = 0
  let max = 0
  const work = async () => {
    const budget = budgetOf()
    for (;;) {
      const reserved = await budget.reserve(projectId, 0.05, scorers)
      if (reserved.kind === 'refused') return reserved.reason
      underWay += 0.05
      max = Math.max(max, spent + underWay)
      // The actual cost is known later, and is below the reservation.
      await new Promise((resolve) => setImmediate(resolve))
      const usd = 0.01 + 0.04 * Math.random()
      // Counted before settling: others may be admitted by what it frees before this promise resolves.
      spent += usd
      underWay -= 0.05
      await reserved.settle(cost(usd))
    }
  }
  const reasons = await Promise.all(Array.from({ length: 8 }, work))
  expect(new Set(reasons)).toEqual(new Set(['budget_spent']))
  expect(max).toBeLessThanOrEqual(1 + 1e-9)
  expect(spent).toBeGreaterThan(0.55)
  const [row] = await spendOf(projectId)
  expect(row?.spent).toBeCloseTo(spent, 9)
  expect(row?.reserved).toBeCloseTo(0, 9)
  const half = { spent: expect.closeTo(spent / 2, 6) as unknown, calls: row?.calls }
  expect(await spendByScorer(projectId)).toEqual(scorers.map((scorer) => ({ scorer, ...half })))
})

test("the lower of the operator's cap and the project's counts, at once when it is changed; without one all pass", async () => {
  const projectId = await addProject(10)
  await expect(reserve(budgetOf({ capUsd: 1 }), projectId, 2)).rejects.toThrow('budget_spent')
  await reserve(budgetOf({ capUsd: 100 }), projectId, 2)
  await pool.query('update projects set judge_usd_per_period = 2.5 where id = $1', [idToUuid(projectId)])
  await expect(reserve(budgetOf(), projectId, 1)).rejects.toThrow('budget_spent')
  await pool.query('update projects set judge_usd_per_period = null where id = $1', [idToUuid(projectId)])
  await reserve(budgetOf(), projectId, 1_000)
})

test('a price that nobody knows is refused where there is a cap, and passes where there is none', async () => {
  await expect(reserve(budgetOf(), await addProject(1), null)).rejects.toThrow('no_price')
  await reserve(budgetOf(), await addProject(null), null)
  await reserve(budgetOf(), newId('project'), null)
})

test('what a crashed worker set aside is given back after its lease; a late settlement counts all the same, and once', async () => {
  const projectId = await addProject(1)
  const settle = await reserve(budgetOf(), projectId, 0.9)
  const passLease = (ms: number) =>
    pool.query(
      `update judge_reservations set expires_at = expires_at - $2 * interval '1 millisecond' where project_id = $1`,
      [idToUuid(projectId), ms],
    )
  await passLease(leaseMs / 2)
  await expect(reserve(budgetOf(), projectId, 0.5)).rejects.toThrow('budget_spent')
  await passLease(leaseMs / 2)
  const settleOther = await reserve(budgetOf(), projectId, 0.5)
  await settle(cost(0.3))
  await settle(cost(0.3))
  await settleOther(cost(0.5))
  const [row] = await spendOf(projectId)
  expect(row).toMatchObject({ calls: 2 })
  expect((await spendByScorer(projectId)).map(({ calls }) => calls)).toEqual([2, 2])
  expect(row?.spent).toBeCloseTo(0.8, 9)
  expect(row?.reserved).toBeCloseTo(0, 9)
})

test.each([
  ['2020-06-01Z', 'behind'],
  ['2038-01-01Z', 'ahead'],
])(
  'a scorer whose clock says %s, years %s, gives back nothing that is under way, and has its own',
  async (iso) => {
    const projectId = await addProject(1)
    const wrong = budgetOf({ clock: clockAt(iso) })
    const settle = await reserve(budgetOf(), projectId, 0.9)
    // Reserving twice: a stale read would lose the first release.
    for (let asked = 0; asked < 2; asked++)
      await expect(reserve(wrong, projectId, 0.5)).rejects.toThrow('budget_spent')
    await settle(cost(0.3))
    await reserve(wrong, projectId, 0.5)
    await expect(reserve(budgetOf(), projectId, 0.5)).rejects.toThrow('budget_spent')
    expect(await spendOf(projectId)).toMatchObject([{ spent: 0.3, reserved: 0.5, calls: 1 }])
  },
)

test('a new period has its own money; what was reserved in the old one is settled there', async () => {
  const projectId = await addProject(1, '2025-02-01T00:00:00Z')
  const settle = await reserve(budgetOf({ clock: clockAt('2025-01-31T23:59:59Z') }), projectId, 0.9)
  const settleNext = await reserve(budgetOf({ clock: clockAt('2025-02-01T00:00:01Z') }), projectId, 0.9)
  await settle(cost(0.7))
  await settleNext(cost(0.2))
  expect(await spendOf(projectId)).toMatchObject([{ spent: 0.7 }, { spent: 0.2 }])
})

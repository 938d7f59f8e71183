import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import pg from 'pg'
import { createLog } from '#runtime/log.ts'
import { createMetrics } from '#runtime/metrics.ts'
import { createPool } from '#runtime/postgres.ts'
import { idToUuid, newId } from '#schemas/ids.ts'
import { createTestDatabase, type TestDatabase } from '#tests/support/infrastructure.ts'
import { databaseRoles } from '#runtime/database-roles.ts'
import { createQuotaStore, type QuotaStore } from './quota-store.ts'

let database: TestDatabase
let owner: pg.Pool
let pools: pg.Pool[]
let quotas: QuotaStore[]
const [freeLimit, proLimit] = [10, 25]
const seconds = (iso: string) => Date.parse(iso)

beforeAll(async () => {
  database = await createTestDatabase()
  owner = new pg.Pool({ connectionString: database.url, max: 2 })
  // Limits that a test can reach.
  await owner.query(
    `update tiers set request_limit = case tier when 'free' then $1::int when 'pro' then $2 end`,
    [freeLimit, proLimit],
  )
  // Two pools are two processes.
  const dependencies = {
    log: createLog('test', 'silent'),
    applicationName: 'test',
    role: databaseRoles('').api,
  }
  pools = [1, 2].map(() =>
    createPool(
      { DATABASE_URL: database.url, DATABASE_POOL_SIZE: 4 },
      { ...dependencies, metrics: createMetrics() },
    ),
  )
  quotas = pools.map(createQuotaStore)
})

afterAll(async () => {
  await Promise.all([owner, ...pools].map((pool) => pool.end()))
  await database.drop()
})

interface Given {
  tier?: string
  anchor?: string
  warningPercent?: number
}

async function addProject({ tier = 'free', anchor = '2026-01-31T10:00:00Z', warningPercent }: Given = {}) {
  const id = newId('project')
  const uuid = idToUuid(id)
  await owner.query(
    `insert into projects (id, name, quota_warning_percent, created_at) values ($1, 'test', $2, now())`,
    [uuid, warningPercent ?? null],
  )
  await owner.query(
    `insert into subscriptions (project_id, tier, period_start, period_reset_at, period_anchor) values ($1, $2, $3, $3, $3)`,
    [uuid, tier, anchor],
  )
  return id
}

const ids = (count: number) => Array.from({ length: count }, () => newId('request'))
const admit = (projectId: string, requestIds: readonly string[], at: string, process = 0) => {
  const quota = quotas[process]
  if (quota === undefined) throw new Error('no such process')
  return quota.admit(projectId, requestIds, seconds(at))
}

async function countOf(projectId: string): Promise<number> {
  const { rows } = await owner.query<{ count: number }>(
    'select requests_this_period::integer as count from subscriptions where project_id = $1',
    [idToUuid(projectId)],
  )
  return rows[0]?.count ?? -1
}

async function alertsOf(projectId: string): Promise<Record<string, unknown>[]> {
  const { rows } = await owner.query<{ data: Buffer }>(
    'select data from event_outbox where project_id = $1 order by seq',
    [idToUuid(projectId)],
  )
  return rows.map(({ data }) => JSON.parse(data.toString()) as Record<string, unknown>)
}

describe('alerts of the quota', () => {
  test('warn at the percentage and tell of the end, once a period each, however many processes ask at once', async () => {
    const projectId = await addProject({ warningPercent: 80 })
    const at = '2026-02-10T00:00:00Z'
    await admit(projectId, ids(7), at)
    expect(await alertsOf(projectId)).toEqual([])
    await Promise.all(Array.from({ length: 40 }, (_, index) => admit(projectId, ids(1), at, index % 2)))
    const period = { tier: 'free', limit: freeLimit, period_start: '2026-01-31T10:00:00.000Z' }
    expect(await alertsOf(projectId)).toMatchObject([
      { alert_type: 'quota_warning', current_count: 8, ...period },
      { alert_type: 'quota_exceeded', current_count: freeLimit, ...period },
    ])
    await Promise.all(
      Array.from({ length: 20 }, (_, index) => admit(projectId, ids(1), '2026-03-10T00:00:00Z', index % 2)),
    )
    expect(
      (await alertsOf(projectId)).map(({ alert_type: type, period_start: start }) => [type, start]),
    ).toEqual([
      ['quota_warning', '2026-01-31T10:00:00.000Z'],
      ['quota_exceeded', '2026-01-31T10:00:00.000Z'],
      ['quota_warning', '2026-02-28T10:00:00.000Z'],
      ['quota_exceeded', '2026-02-28T10:00:00.000Z'],
    ])
  })

  test('tell of the limit of another tier in the same period', async () => {
    const projectId = await addProject()
    const at = '2026-02-10T00:00:00Z'
    await admit(projectId, ids(freeLimit + 1), at)
    await owner.query(`update subscriptions set tier = 'pro', quota_alerted = false where project_id = $1`, [
      idToUuid(projectId),
    ])
    await admit(projectId, ids(proLimit - freeLimit), at)
    for (let again = 0; again < 2; again++) await admit(projectId, ids(1), at)
    expect(await alertsOf(projectId)).toMatchObject([
      { alert_type: 'quota_exceeded', tier: 'free', limit: freeLimit },
      { alert_type: 'quota_exceeded', tier: 'pro', limit: proLimit },
    ])
  })

  test('do not warn where nobody asked for it', async () => {
    const projectId = await addProject()
    await admit(projectId, ids(freeLimit), '2026-02-10T00:00:00Z')
    expect(await alertsOf(projectId)).toEqual([])
  })
})

describe('the boundary of a period', () => {
  test('is a moment: before it the old count holds, from it on a new one; a retry across it was paid for', async () => {
    const projectId = await addProject()
    const used = ids(freeLimit)
    await admit(projectId, used, '2026-02-28T09:59:59.999Z')
    const late = await admit(projectId, ids(1), '2026-02-28T09:59:59.999Z')
    expect([late.admitted.size, late.periodResetAtMs]).toEqual([0, seconds('2026-02-28T10:00:00Z')])
    const next = await admit(projectId, [...ids(1), ...used], '2026-02-28T10:00:00.000Z')
    expect([next.admitted.size, next.periodStartMs]).toEqual([freeLimit + 1, seconds('2026-02-28T10:00:00Z')])
    expect(await countOf(projectId)).toBe(1)
    // Claims are deleted after two periods, long after ingest refuses ids that old.
    await admit(projectId, used, '2026-04-30T10:00:00Z')
    expect(await countOf(projectId)).toBe(freeLimit)
  })

  test('and a change of tier leaves the count and moves the limit at once', async () => {
    const projectId = await addProject()
    const at = '2026-02-10T00:00:00Z'
    await admit(projectId, ids(freeLimit + 5), at)
    const setTier = (tier: string) =>
      owner.query('update subscriptions set tier = $2 where project_id = $1', [idToUuid(projectId), tier])
    await setTier('pro')
    const more = await admit(projectId, ids(proLimit), at)
    expect([more.limit, more.admitted.size, await countOf(projectId)]).toEqual([
      proLimit,
      proLimit - freeLimit,
      proLimit,
    ])
    await setTier('free')
    const none = await admit(projectId, ids(1), at)
    expect([none.limit, none.admitted.size, await countOf(projectId)]).toEqual([freeLimit, 0, proLimit])
  })

  test('is not passed by who is years ahead of the database: the count stays, and nobody waits for years for the next', async () => {
    const begunMs = Date.now() - 3_600_000
    const projectId = await addProject({ anchor: new Date(begunMs).toISOString() })
    await admit(projectId, ids(freeLimit - 1), new Date().toISOString())
    const { admitted, periodStartMs } = await admit(projectId, ids(3), '2046-01-01T00:00:00Z')
    expect([admitted.size, periodStartMs, await countOf(projectId)]).toEqual([1, begunMs, freeLimit])
  })

  test('lies a month from the one before, whatever the day it is counted from', async () => {
    const day = 86_400_000
    const anchor = fc.integer({ min: Date.UTC(2020, 0, 1), max: Date.UTC(2020, 11, 31) })
    await fc.assert(
      fc.asyncProperty(anchor, fc.integer({ min: 0, max: 1_500 * day }), async (anchorMs, afterMs) => {
        const nowMs = anchorMs + afterMs
        const projectId = await addProject({ anchor: new Date(anchorMs).toISOString() })
        const now = new Date(nowMs).toISOString()
        const { periodStartMs: start, periodResetAtMs: end } = await admit(projectId, ids(1), now)
        expect(start <= nowMs && nowMs < end).toBe(true)
        const [from, to, wanted] = [new Date(start), new Date(end), new Date(anchorMs).getUTCDate()]
        const months =
          (to.getUTCFullYear() - from.getUTCFullYear()) * 12 + to.getUTCMonth() - from.getUTCMonth()
        expect(months).toBe(1)
        const lastDay = new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + 1, 0)).getUTCDate()
        expect(from.getUTCDate()).toBe(Math.min(wanted, lastDay))
        expect(from.getTime() % day).toBe(anchorMs % day)
      }),
      { numRuns: 60 },
    )
  })
})

test('a count is what a simple model says, whatever is asked, repeated and changed', async () => {
  const known = ids(30)
  const step = fc.record({
    wanted: fc.array(fc.integer({ min: 0, max: known.length - 1 }), { minLength: 1, maxLength: 12 }),
    hours: fc.integer({ min: 0, max: 400 }),
    tier: fc.constantFrom('free', 'pro'),
    process: fc.constantFrom(0, 1),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const projectId = await addProject({ anchor: '2026-01-01T00:00:00Z' })
      const monthOf = (ms: number) => new Date(ms).toISOString().slice(0, 7)
      const claimedIn = new Map<string, string>()
      let nowMs = seconds('2026-01-01T00:00:00Z')
      for (const { wanted, hours, tier, process } of steps) {
        nowMs += hours * 3_600_000
        await owner.query('update subscriptions set tier = $2 where project_id = $1', [
          idToUuid(projectId),
          tier,
        ])
        const month = monthOf(nowMs)
        const previous = monthOf(
          Date.UTC(new Date(nowMs).getUTCFullYear(), new Date(nowMs).getUTCMonth() - 1, 1),
        )
        const isKnown = (id: string) => [month, previous].includes(claimedIn.get(id) ?? '')
        const count = () => [...claimedIn.values()].filter((claimed) => claimed === month).length
        const asked = wanted.map((index) => known[index] ?? '')
        const expected = new Set<string>()
        for (const id of asked) {
          if (!isKnown(id)) {
            if (count() >= (tier === 'free' ? freeLimit : proLimit)) continue
            claimedIn.set(id, month)
          }
          expected.add(id)
        }
        const { admitted } = await admit(projectId, asked, new Date(nowMs).toISOString(), process)
        expect([...admitted].sort()).toEqual([...expected].sort())
        expect(await countOf(projectId)).toBe(count())
      }
    }),
    { numRuns: 40 },
  )
})

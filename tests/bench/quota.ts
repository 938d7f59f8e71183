import { parseArgs } from 'node:util'
import pg from 'pg'
import { systemClock } from '#runtime/clock.ts'
import { createLog } from '#runtime/log.ts'
import { createMetrics } from '#runtime/metrics.ts'
import { createPool } from '#runtime/postgres.ts'
import { idToUuid, newId } from '#schemas/ids.ts'
import { createAdmit } from '#services/ingest/steps/admit-together.ts'
import { databaseRoles } from '#runtime/database-roles.ts'
import { createQuotaStore } from '#services/ingest/stores/quota-store.ts'
import { openBenchmark, printFigures, ratio } from '../support/benchmark.ts'
import { createTestDatabase } from '../support/infrastructure.ts'

/**
 * Requests per second of one project with a limit, 64 concurrent: claims by id, with concurrent ones in one
 * database call. Against the usual way, an update of the project's row per request (which counts a repeated
 * request twice).
 */
const { values } = parseArgs({ options: { seconds: { type: 'string', default: '5' } } })
const seconds = Number(values.seconds)
const concurrency = 64
const rounds = 2

const stopInfrastructure = await openBenchmark()
const database = await createTestDatabase()
const pool = createPool(
  { DATABASE_URL: database.url, DATABASE_POOL_SIZE: 10 },
  {
    log: createLog('bench', 'silent'),
    metrics: createMetrics(),
    applicationName: 'bench',
    role: databaseRoles('').api,
  },
)
const owner = new pg.Pool({ connectionString: database.url, max: 10 })
try {
  const [claimed, updated] = [await addProject(), await addProject()]
  const admit = createAdmit(createQuotaStore(pool), systemClock)
  const claim = () => admit(claimed, [newId('request')])
  const update = () =>
    owner.query(
      `update subscriptions s set requests_this_period = requests_this_period + 1 from tiers t
       where s.project_id = $1 and t.tier = s.tier and s.requests_this_period < t.request_limit`,
      [idToUuid(updated)],
    )
  const rates: Record<'claims' | 'updates', number[]> = { claims: [], updates: [] }
  await Promise.all([rateOf(claim, 1), rateOf(update, 1)])
  for (let round = 0; round < rounds; round++) {
    rates.updates.push(await rateOf(update, seconds))
    rates.claims.push(await rateOf(claim, seconds))
  }
  const [claims, updates] = [mean(rates.claims), mean(rates.updates)]
  console.table({
    'an update a request': { 'requests/s': updates },
    'claims together': { 'requests/s': claims },
  })
  printFigures('quota', { update_ratio: ratio(claims, updates) })
} finally {
  await pool.end()
  await owner.end()
  await database.drop()
  await stopInfrastructure()
}

async function addProject(): Promise<string> {
  const id = newId('project')
  await owner.query(`insert into projects (id, name, created_at) values ($1, 'bench', now())`, [idToUuid(id)])
  await owner.query(
    `insert into subscriptions (project_id, tier, period_start, period_reset_at, period_anchor)
     values ($1, 'team', now(), now() + interval '1 month', now())`,
    [idToUuid(id)],
  )
  return id
}

async function rateOf(request: () => Promise<unknown>, forSeconds: number): Promise<number> {
  const startMs = performance.now()
  let count = 0
  const client = async () => {
    while (performance.now() - startMs < forSeconds * 1_000) {
      await request()
      count++
    }
  }
  await Promise.all(Array.from({ length: concurrency }, client))
  return (count / (performance.now() - startMs)) * 1_000
}

function mean(all: readonly number[]): number {
  return Math.round(all.reduce((sum, one) => sum + one, 0) / all.length)
}

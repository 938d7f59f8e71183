import pg from 'pg'
import { systemClock } from '#runtime/clock.ts'
import { parseKeys } from '#runtime/encryption-keys.ts'
import { createLog } from '#runtime/log.ts'
import { createMetrics } from '#runtime/metrics.ts'
import { createPool } from '#runtime/postgres.ts'
import { createSealer } from '#runtime/sealing.ts'
import { createTestDatabase } from '#tests/support/infrastructure.ts'
import { createPasswordHasher } from '../../people/hash-password.ts'
import { createCheckWebhook } from '../../webhooks/check-webhook.ts'
import { applyInitFile } from '../apply-init-file.ts'
import { parseInitFile } from '../init-file.ts'

export const keyOf = (digit: string) => `svc_ci_${digit.repeat(48)}`
export const hasher = createPasswordHasher()

/** A receiver with a filter and a secret. */
export const webhook = {
  url: 'https://hooks.example.com/a',
  events: ['threat_detected'],
  filters: { severity: ['high', 'critical'] },
  secret: 'a-secret-of-the-receiver-1',
}

export const tables = [
  'projects',
  'subscriptions',
  'declared_projects',
  'api_keys',
  'webhooks',
  'people',
  'people_projects',
  'audit_log',
]

interface Fixture {
  superuser: pg.Pool
  apply: (declared: object, resolveHost?: () => Promise<string[]>) => Promise<void>
  /** All rows that a file may make or change, as text, by table. */
  snapshot: () => Promise<Record<string, string[]>>
  stop: () => Promise<void>
}

/** Applies files to a database of its own, with the rights of the API. */
export async function openFixture(): Promise<Fixture> {
  const database = await createTestDatabase()
  const log = createLog('init-test', 'silent')
  const pool = createPool(
    { DATABASE_URL: database.url, DATABASE_POOL_SIZE: 4 },
    { log, metrics: createMetrics(), applicationName: 'init-test', role: 'sluice_operator' },
  )
  const superuser = new pg.Pool({ connectionString: database.url, max: 2 })
  const sealer = createSealer(parseKeys(`k1:${Buffer.alloc(32, 7).toString('base64')}`, () => undefined))
  const policy = { insecureHosts: new Set<string>(), ports: new Set([443]) }
  return {
    superuser,
    apply: (declared, resolveHost = () => Promise.resolve(['93.184.216.34'])) =>
      applyInitFile(
        parseInitFile(JSON.stringify(declared), {}),
        {
          pool,
          sealer,
          hasher,
          checkWebhook: createCheckWebhook(policy, resolveHost),
          defaultTier: 'enterprise',
          canMask: false,
          log,
          clock: systemClock,
        },
        new AbortController().signal,
      ),
    async snapshot() {
      const entries = await Promise.all(
        tables.map(async (table) => {
          const { rows } = await superuser.query<{ row: string }>(
            `select t::text as row from ${table} t order by 1`,
          )
          return [table, rows.map(({ row }) => row)] as const
        }),
      )
      return Object.fromEntries(entries)
    },
    async stop() {
      await Promise.all([pool.end(), superuser.end()])
      await database.drop()
    },
  }
}

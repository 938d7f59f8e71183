import type { Pool, PoolClient } from 'pg'
import { inTransaction } from '#runtime/postgres.ts'
import type { EventData } from '#schemas/event-data.ts'
import { hashedId, idFromUuid, idToUuid } from '#schemas/ids.ts'
import { dollarsOf, picodollarsOf } from '#schemas/picodollars.ts'
import type { Tier } from '#schemas/tiers.ts'
import { applyReport, type Balance, type Lease, type LeaseReport } from '../budgets/lease-book.ts'

export interface LeaseAnswer {
  lease: Lease
  balance: Balance
  budgetUsd: number
}

/** Leases of any project's keys: for gateways with the operator's secret only. */
export interface LeaseStore {
  /**
   * Applies a report. Undefined: there is no such key in force, or it has no budget. The first refused call
   * of a month raises `usage_alert` in the same transaction.
   */
  report(keyId: string, month: string, report: LeaseReport, nowMs: number): Promise<LeaseAnswer | undefined>
}

/** Leases of months before are of no use. */
const keptMonths = 13

export function createLeaseStore(pool: Pool): LeaseStore {
  return {
    report: (keyId, month, report, nowMs) =>
      inTransaction(pool, async (client) => {
        const key = await lockMonth(client, keyId, month)
        if (key === undefined) return undefined
        const leases = await readLeases(client, keyId, month)
        const budget = picodollarsOf(key.budgetUsd)
        const { lease, changed, balance } = applyReport(leases, report, { budget, nowMs })
        for (const each of changed) await writeLease(client, { ...key, keyId, month }, each)
        if (lease.refused > 0n && !key.isExceeded) await raiseExceeded(client, keyId, month, balance, nowMs)
        return { lease, balance, budgetUsd: key.budgetUsd }
      }),
  }
}

interface KeyMonth {
  projectId: string
  budgetUsd: number
  isExceeded: boolean
}

/** Orders the reports of a key: one at a time. */
async function lockMonth(client: PoolClient, keyId: string, month: string): Promise<KeyMonth | undefined> {
  const created = await client.query(
    `insert into key_months (project_id, key_id, month)
     select project_id, id, $2 from api_keys where id = $1 and revoked_at is null and monthly_budget_usd is not null
     on conflict do nothing`,
    [idToUuid(keyId), month],
  )
  if (created.rowCount === 1) {
    await client.query(
      `delete from key_months where key_id = $1 and month < $2::date - make_interval(months => ${keptMonths})`,
      [idToUuid(keyId), month],
    )
  }
  const { rows } = await client.query<{ project_id: string; budget: string; exceeded_at: Date | null }>(
    `select m.project_id, k.monthly_budget_usd as budget, m.exceeded_at
     from key_months m join api_keys k on k.id = m.key_id
     where m.key_id = $1 and m.month = $2 and k.monthly_budget_usd is not null for update of m`,
    [idToUuid(keyId), month],
  )
  return (
    rows[0] && {
      projectId: idFromUuid('project', rows[0].project_id),
      budgetUsd: Number(rows[0].budget),
      isExceeded: rows[0].exceeded_at !== null,
    }
  )
}

interface LeaseRow {
  lease_id: string
  sequence: string
  granted: string
  spent: string
  under_way: string
  refused: string
  expires_at: Date
}

async function readLeases(client: PoolClient, keyId: string, month: string): Promise<Lease[]> {
  const { rows } = await client.query<LeaseRow>(
    `select lease_id, sequence, granted, spent, under_way, refused, expires_at
     from key_leases where key_id = $1 and month = $2`,
    [idToUuid(keyId), month],
  )
  return rows.map((row) => ({
    id: row.lease_id,
    sequence: BigInt(row.sequence),
    granted: BigInt(row.granted),
    spent: BigInt(row.spent),
    underWay: BigInt(row.under_way),
    refused: BigInt(row.refused),
    expiresAtMs: row.expires_at.getTime(),
  }))
}

async function writeLease(
  client: PoolClient,
  { projectId, keyId, month }: { projectId: string; keyId: string; month: string },
  lease: Lease,
): Promise<void> {
  await client.query(
    `insert into key_leases (project_id, key_id, month, lease_id, sequence, granted, spent, under_way, refused, expires_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
     on conflict (key_id, month, lease_id) do update set sequence = excluded.sequence, granted = excluded.granted,
       spent = excluded.spent, under_way = excluded.under_way, refused = excluded.refused, expires_at = excluded.expires_at`,
    [
      ...[idToUuid(projectId), idToUuid(keyId), month, lease.id, String(lease.sequence)],
      ...[lease.granted, lease.spent, lease.underWay, lease.refused].map(String),
      new Date(lease.expiresAtMs),
    ],
  )
}

/** Once for a key, month and budget. */
async function raiseExceeded(
  client: PoolClient,
  keyId: string,
  month: string,
  { spent }: Balance,
  nowMs: number,
): Promise<void> {
  const { rows } = await client.query<ExceededRow>(
    `update key_months m set exceeded_at = $3
     from api_keys k join subscriptions s on s.project_id = k.project_id join tiers t on t.tier = s.tier
     where m.key_id = $1 and m.month = $2 and k.id = m.key_id
     returning k.project_id, k.name, k.monthly_budget_usd as budget, s.tier, t.request_limit, s.requests_this_period as count`,
    [idToUuid(keyId), month, new Date(nowMs)],
  )
  const [key] = rows
  if (key === undefined) throw new Error('the month of the key is not there')
  const projectId = idFromUuid('project', key.project_id)
  const start = new Date(`${month}T00:00:00.000Z`)
  const end = new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1))
  const data: EventData<'usage_alert'> = {
    alert_type: 'key_budget_exceeded',
    tier: key.tier,
    limit: key.request_limit === null ? null : Number(key.request_limit),
    current_count: Number(key.count),
    period_start: start.toISOString(),
    period_end: end.toISOString(),
    threshold_usd: Number(key.budget),
    current_usd: Number(dollarsOf(spent).toFixed(6)),
    key_id: keyId,
    key_name: key.name,
  }
  const named = [projectId, 'usage_alert', 'key_budget_exceeded', month, keyId, key.budget]
  await client.query(
    `insert into event_outbox (id, event, project_id, created_at, data)
     values ($1, 'usage_alert', $2, $3, $4) on conflict (id) do nothing`,
    [
      idToUuid(hashedId('event', start.getTime(), named)),
      idToUuid(projectId),
      new Date(nowMs),
      Buffer.from(JSON.stringify(data)),
    ],
  )
}

interface ExceededRow {
  project_id: string
  name: string
  budget: string
  tier: Tier
  request_limit: string | null
  count: string
}

import type { Pool, PoolClient } from 'pg'
import type { EventData } from '#schemas/event-data.ts'
import { hashedId, idFromUuid, idToUuid } from '#schemas/ids.ts'
import type { Tier } from '#schemas/tiers.ts'
import { inProjectTransaction, queryInProject } from '#http/access/project-transaction.ts'

/** The requests that a project's tier has room for. */
export interface Admission {
  admitted: ReadonlySet<string>
  tier: Tier
  /** Requests a period; null: unlimited. */
  limit: number | null
  /** Unix milliseconds. */
  periodStartMs: number
  periodResetAtMs: number
}

export interface QuotaStore {
  /**
   * Claims room for `requestIds`, in order. A request that was admitted before is admitted again at no cost.
   * The first refusal of a period, and reaching the project's `quota_warning_percent`, raise `usage_alert` in
   * the same transaction.
   */
  admit(projectId: string, requestIds: readonly string[], nowMs: number): Promise<Admission>
}

interface AdmissionRow {
  o_claimed: boolean
  o_refused: string[]
  o_tier: Tier
  o_limit: string | null
  o_count: string
  o_period_start: Date
  o_period_reset_at: Date
  o_crossed: boolean
  o_warned: boolean
}

export function createQuotaStore(pool: Pool): QuotaStore {
  return {
    async admit(projectId, requestIds, nowMs) {
      const claim = { projectId, requestIds, nowMs }
      const [row] = await queryInProject<AdmissionRow>(pool, projectId, claimSql(claim, 'false'))
      if (row?.o_claimed === true) return admissionOf(row, requestIds)
      return inProjectTransaction(pool, projectId, (client) => admitWithAlerts(client, claim))
    },
  }
}

interface Claim {
  projectId: string
  requestIds: readonly string[]
  nowMs: number
}

/** Twice or three times a period: the request that uses up the period raises the alert in its transaction. */
async function admitWithAlerts(client: PoolClient, claim: Claim): Promise<Admission> {
  const { rows } = await client.query<AdmissionRow>(claimSql(claim, 'true'))
  const row = rows[0]
  if (row === undefined) throw new Error('claim_requests returned no row')
  const { projectId, requestIds, nowMs } = claim
  if (row.o_warned) await raiseUsageAlert(client, 'quota_warning', projectId, row, nowMs)
  if (row.o_crossed) await raiseUsageAlert(client, 'quota_exceeded', projectId, row, nowMs)
  return admissionOf(row, requestIds)
}

/** UUIDs and a time need no escaping. */
function claimSql({ projectId, requestIds, nowMs }: Claim, mayAlert: 'true' | 'false'): string {
  const uuids = new Set(requestIds.map(idToUuid))
  return `select * from claim_requests('${idToUuid(projectId)}', '{${[...uuids].join(',')}}', '${new Date(nowMs).toISOString()}', ${mayAlert})`
}

function admissionOf(row: AdmissionRow, requestIds: readonly string[]): Admission {
  const admitted = new Set(requestIds)
  for (const uuid of row.o_refused) admitted.delete(idFromUuid('request', uuid))
  return {
    admitted,
    tier: row.o_tier,
    limit: row.o_limit === null ? null : Number(row.o_limit),
    periodStartMs: row.o_period_start.getTime(),
    periodResetAtMs: row.o_period_reset_at.getTime(),
  }
}

async function raiseUsageAlert(
  client: PoolClient,
  kind: 'quota_warning' | 'quota_exceeded',
  projectId: string,
  row: AdmissionRow,
  nowMs: number,
): Promise<void> {
  const periodStart = row.o_period_start.toISOString()
  // With tier and count: a new limit is a new event of the same period.
  const named = [projectId, 'usage_alert', kind, periodStart, row.o_tier, row.o_count]
  const id = hashedId('event', row.o_period_start.getTime(), named)
  const data: EventData<'usage_alert'> = {
    alert_type: kind,
    tier: row.o_tier,
    limit: Number(row.o_limit),
    current_count: Number(row.o_count),
    period_start: periodStart,
    period_end: row.o_period_reset_at.toISOString(),
  }
  await client.query(
    `insert into event_outbox (id, event, project_id, created_at, data)
     values ($1, 'usage_alert', $2, $3, $4) on conflict (id) do nothing`,
    [idToUuid(id), idToUuid(projectId), new Date(nowMs), Buffer.from(JSON.stringify(data))],
  )
}

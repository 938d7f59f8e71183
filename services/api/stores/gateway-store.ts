import type { OneOrEvery, ProjectDatabase } from './project-database.ts'
import { idFromUuid } from '#schemas/ids.ts'

/** A gateway's report about itself. Times are Unix milliseconds. */
export interface GatewayReport {
  name: string
  version: string
  delivery: 'api' | 'kafka'
  startedAtMs: number
  spool: { records: number; bytes: number; oldestAtMs: number | null }
  /** Records lost since it started, by reason. */
  lost: Readonly<Record<string, number>>
  /** Calls forwarded and not recorded since it started, by project and reason. */
  leftOut: Readonly<Record<string, Readonly<Record<string, number>>>>
  /** One line for each part that is unhealthy. */
  problems: Readonly<Record<string, string>>
}

export interface SeenGateway extends GatewayReport {
  /** Null: it records for many projects, as the operator. */
  projectId: string | null
  seenAtMs: number
}

/** A gateway without a report for a day is no longer listed. */
const forgottenAfter = `interval '1 day'`
/** Keys can invent names; no project has so many gateways. */
const maxGateways = 1_000

const recordSql = `
  with old as (
    delete from gateways g where :scope(g) and g.project_id is not distinct from $1::uuid
      and g.name <> $2 and g.seen_at < $3::timestamptz - ${forgottenAfter}
  )
  insert into gateways (project_id, name, seen_at, version, delivery, started_at, spool_records, spool_bytes, spool_oldest_at, lost, problems, left_out)
  select $1::uuid, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12
  where exists (select from gateways g where g.project_id is not distinct from $1::uuid and g.name = $2)
    or (select count(*) from gateways g where g.project_id is not distinct from $1::uuid) < ${maxGateways}
  on conflict (project_id, name) do update set seen_at = excluded.seen_at, version = excluded.version, delivery = excluded.delivery,
    started_at = excluded.started_at, spool_records = excluded.spool_records, spool_bytes = excluded.spool_bytes,
    spool_oldest_at = excluded.spool_oldest_at, lost = excluded.lost, problems = excluded.problems, left_out = excluded.left_out
  returning name`

/** Stores the report in place of the gateway's last one. False: the project has too many gateways. */
export async function recordGateway(
  database: ProjectDatabase<OneOrEvery>,
  report: GatewayReport,
  nowMs: number,
): Promise<boolean> {
  const { spool } = report
  const rows = await database.query(recordSql, [
    report.name,
    new Date(nowMs),
    report.version,
    report.delivery,
    new Date(report.startedAtMs),
    spool.records,
    spool.bytes,
    spool.oldestAtMs === null ? null : new Date(spool.oldestAtMs),
    JSON.stringify(report.lost),
    JSON.stringify(report.problems),
    JSON.stringify(report.leftOut),
  ])
  return rows.length > 0
}

interface GatewayRow {
  project_id: string | null
  name: string
  version: string
  delivery: 'api' | 'kafka'
  started_at: Date
  seen_at: Date
  spool_records: string
  spool_bytes: string
  spool_oldest_at: Date | null
  lost: Record<string, number>
  problems: Record<string, string>
  left_out: Record<string, Record<string, number>>
}

/** The gateways that reported within a day, those with the oldest waiting record first. */
export async function listGateways(
  database: ProjectDatabase,
  nowMs: number,
  limit: number,
): Promise<SeenGateway[]> {
  const rows = await database.query<GatewayRow>(
    `select g.* from gateways g where :scope(g) and g.seen_at >= $2::timestamptz - ${forgottenAfter}
     order by g.spool_oldest_at nulls last, g.project_id, g.name limit $3`,
    [new Date(nowMs), limit],
  )
  return rows.map((row) => ({
    projectId: row.project_id === null ? null : idFromUuid('project', row.project_id),
    name: row.name,
    version: row.version,
    delivery: row.delivery,
    startedAtMs: row.started_at.getTime(),
    seenAtMs: row.seen_at.getTime(),
    spool: {
      records: Number(row.spool_records),
      bytes: Number(row.spool_bytes),
      oldestAtMs: row.spool_oldest_at?.getTime() ?? null,
    },
    lost: row.lost,
    problems: row.problems,
    leftOut: row.left_out,
  }))
}

import type { AlertLevel } from '#schemas/alert-state.ts'
import { failingWebhooksFrom } from '#schemas/failing-webhooks.ts'
import { idFromUuid } from '#schemas/ids.ts'
import { severities, type Severity } from '#schemas/verdicts.ts'
import type { OneProject, ProjectDatabase } from './project-database.ts'

const dayMs = 86_400_000
/** Of what one answer names. */
export const maxNamed = 20
const findingBound = 10_000
const callBound = 1_000
/** Calls younger than this are not late. */
const scoredWithinMs = 60_000

export interface OpenFindings {
  severity: Severity
  open: number
  /** Opened within a day, and within a week but not a day. */
  last_day: number
  last_week: number
}

/** The open findings by severity and age: of the 10,000 that were opened last. */
export async function countOpenFindings(
  database: ProjectDatabase<OneProject>,
  nowMs: number,
): Promise<OpenFindings[]> {
  const rows = await database.query<OpenFindings>(
    `with f as (select f.severity, f.opened_at from findings f where :scope(f) and f.state = 'open'
       order by f.opened_at desc, f.id desc limit ${findingBound})
     select severity, count(*)::integer as open, count(*) filter (where opened_at >= $2)::integer as last_day,
       count(*) filter (where opened_at < $2 and opened_at >= $3)::integer as last_week from f group by 1`,
    [new Date(nowMs - dayMs), new Date(nowMs - 7 * dayMs)],
  )
  const none = { open: 0, last_day: 0, last_week: 0 }
  return severities
    .toReversed()
    .map((severity) => rows.find((row) => row.severity === severity) ?? { severity, ...none })
}

export interface FiringRule {
  id: string
  name: string
  status: AlertLevel
  since: string
}

/** Enabled rules over a threshold, alerts before warnings. */
export async function readFiringRules(database: ProjectDatabase<OneProject>): Promise<FiringRule[]> {
  const rows = await database.query<Omit<FiringRule, 'since'> & { since: Date }>(
    `select r.id, r.name, s.status, s.since from alert_rules r join alert_states s on s.rule_id = r.id
     where :scope(r) and r.enabled and s.status in ('warning', 'alert') order by s.status, s.since desc limit ${maxNamed}`,
  )
  return rows.map((row) => ({
    ...row,
    id: idFromUuid('alertRule', row.id),
    since: row.since.toISOString(),
  }))
}

export interface FailingReceiver {
  id: string
  kind: string
  deliveries: number
  failed: number
  is_disabled: boolean
}

/** Webhooks and destinations that failed half or more of the last day's deliveries, the worst first. */
export async function readFailingReceivers(
  database: ProjectDatabase<OneProject>,
): Promise<FailingReceiver[]> {
  const rows = await database.query<FailingReceiver>(
    `select w.id, w.kind, day.deliveries, day.failed, not w.enabled as is_disabled from ${failingWebhooksFrom} and :scope(w)
     order by day.failed desc, w.id limit ${maxNamed}`,
  )
  return rows.map((row) => ({ ...row, id: idFromUuid('webhook', row.id) }))
}

export interface Unscored {
  waiting: number
  oldest_at: string | null
}

/**
 * The calls after the newest scored one that are older than a minute: of the last day's newest 1,000. Calls
 * that nothing scores, as the judge's own, stand between scored ones and do not count.
 */
export async function countUnscored(database: ProjectDatabase<OneProject>, nowMs: number): Promise<Unscored> {
  const [row] = await database.query<{ waiting: number; oldest_at: Date | null }>(
    `with recent as materialized (
       select r.created_at, exists (select from request_verdicts v
         where v.project_id = r.project_id and v.request_id = r.id and v.request_created_at = r.created_at) as is_scored
       from (select r.project_id, r.id, r.created_at from llm_requests r where :scope(r) and r.created_at > $2
         order by r.created_at desc, r.id desc limit ${callBound}) r)
     select count(*)::integer as waiting, min(created_at) as oldest_at from recent
     where created_at < $3 and created_at > coalesce((select max(created_at) from recent where is_scored), '-infinity')`,
    [new Date(nowMs - dayMs), new Date(nowMs - scoredWithinMs)],
  )
  return { waiting: row?.waiting ?? 0, oldest_at: row?.oldest_at?.toISOString() ?? null }
}

export interface ProjectTrouble {
  project_id: string
  name: string
  critical: number
  high: number
  medium: number
  last_day: number
  firing_rules: number
  failing_receivers: number
}

/** The projects in scope with something wrong, the worst first. */
export async function listTroubled(
  database: ProjectDatabase,
  { limit, offset }: { limit: number; offset: number },
  nowMs: number,
): Promise<{ items: ProjectTrouble[]; total: number }> {
  const rows = await database.query<ProjectTrouble & { total: number }>(
    `with found as (
       select f.project_id, count(*) filter (where f.severity = 'critical') as critical, count(*) filter (where f.severity = 'high') as high,
         count(*) filter (where f.severity = 'medium') as medium, count(*) filter (where f.opened_at >= $2) as last_day
       from findings f where :scope(f) and f.state = 'open' group by 1),
     firing as (
       select r.project_id, count(*) as rules from alert_rules r join alert_states s on s.rule_id = r.id
       where :scope(r) and r.enabled and s.status in ('warning', 'alert') group by 1),
     failing as (select w.project_id, count(*) as receivers from ${failingWebhooksFrom} and :scope(w) group by 1),
     troubled as (
       select project_id, coalesce(critical, 0)::integer as critical, coalesce(high, 0)::integer as high, coalesce(medium, 0)::integer as medium,
         coalesce(last_day, 0)::integer as last_day, coalesce(rules, 0)::integer as firing_rules, coalesce(receivers, 0)::integer as failing_receivers
       from found full join firing using (project_id) full join failing using (project_id))
     select t.*, p.name, count(*) over ()::integer as total from troubled t join projects p on p.id = t.project_id
     order by t.critical desc, t.high desc, t.firing_rules + t.failing_receivers desc, t.medium desc, t.project_id limit $3 offset $4`,
    [new Date(nowMs - dayMs), limit, offset],
  )
  return {
    items: rows.map(({ total: _total, ...row }) => ({
      ...row,
      project_id: idFromUuid('project', row.project_id),
    })),
    total: rows[0]?.total ?? 0,
  }
}

import type { ClientBase, Pool } from 'pg'
import { query } from '#runtime/postgres.ts'
import type { AlertFilter, AlertRule } from '#schemas/alert-rule.ts'
import type { AlertLevel, AlertState, AlertStatus } from '#schemas/alert-state.ts'

/** A due rule with where it stands. */
export interface DueRule {
  ruleUuid: string
  projectUuid: string
  name: string
  enabled: boolean
  createdAtMs: number
  rule: AlertRule
  state: AlertState
}

/** What an evaluation changed. */
export interface EvaluatedRule {
  due: DueRule
  state: AlertState
  value: number | null
  compared: number | null
  /** End of the window that was read; null: none was. */
  untilMs: number | null
  dueAtMs: number
}

interface DueRow extends Omit<AlertRule, 'filter'> {
  rule_id: string
  project_id: string
  name: string
  enabled: boolean
  filter: AlertFilter
  created_at: Date
  status: AlertStatus
  since: Date
  warning_since: Date | null
  alert_since: Date | null
  told_level: AlertLevel | null
  told_since: Date | null
  fired_level: AlertLevel | null
  fired_at: Date | null
  changes: string
}

const stateTimes = ['since', 'warning_since', 'alert_since', 'told_since', 'fired_at'] as const

/**
 * Locks the rules due at `now`, the longest due first, at most `limit`. Disabled ones that still fire are
 * among them: they have to recover. What another evaluator holds is left out.
 */
export async function lockDueRules(client: ClientBase, now: Date, limit: number): Promise<DueRule[]> {
  const { rows } = await client.query<DueRow>(
    `select r.id as rule_id, r.project_id, r.name, r.enabled, r.metric, r.filter, r.window_minutes, r.direction,
       r.warning_threshold, r.alert_threshold, r.for_minutes, r.cooldown_minutes, r.compare, r.created_at,
       s.status, ${stateTimes.map((name) => `s.${name}`).join(', ')}, s.told_level, s.fired_level, s.changes
     from alert_states s join alert_rules r on r.id = s.rule_id
     where s.due_at <= $1 and (r.enabled or s.told_level is not null)
     order by s.due_at, s.rule_id limit $2 for update of s skip locked`,
    [now, limit],
  )
  return rows.map(dueOf)
}

const msOf = (time: Date | null) => time?.getTime() ?? null

function dueOf(row: DueRow): DueRule {
  const { metric, filter, window_minutes, direction, warning_threshold, alert_threshold } = row
  const { for_minutes, cooldown_minutes, compare, status, told_level, fired_level } = row
  return {
    ruleUuid: row.rule_id,
    projectUuid: row.project_id,
    name: row.name,
    enabled: row.enabled,
    createdAtMs: row.created_at.getTime(),
    rule: {
      ...{ metric, filter, window_minutes, direction, warning_threshold, alert_threshold },
      ...{ for_minutes, cooldown_minutes, compare },
    },
    state: {
      ...{ status, told_level, fired_level },
      since_ms: row.since.getTime(),
      warning_since_ms: msOf(row.warning_since),
      alert_since_ms: msOf(row.alert_since),
      told_since_ms: msOf(row.told_since),
      fired_at_ms: msOf(row.fired_at),
      changes: Number(row.changes),
    },
  }
}

const timeOf = (ms: number | null) => (ms === null ? null : new Date(ms))

/** Writes the states of locked rules. A late rule keeps the value that was read last. */
export async function saveStates(client: ClientBase, evaluated: readonly EvaluatedRule[]): Promise<void> {
  const rows = evaluated.map(({ due, state, value, compared, untilMs, dueAtMs }) => ({
    rule_id: due.ruleUuid,
    ...state,
    ...Object.fromEntries(stateTimes.map((name) => [name, timeOf(state[`${name}_ms`])])),
    ...{ value, compared_with: compared, evaluated_until: timeOf(untilMs), due_at: new Date(dueAtMs) },
  }))
  await client.query(
    `update alert_states s set status = n.status, told_level = n.told_level, fired_level = n.fired_level, changes = n.changes,
       ${stateTimes.map((name) => `${name} = n.${name}`).join(', ')}, due_at = n.due_at,
       value = case when n.evaluated_until is null then s.value else n.value end,
       compared_with = case when n.evaluated_until is null then s.compared_with else n.compared_with end,
       evaluated_until = coalesce(n.evaluated_until, s.evaluated_until)
     from json_populate_recordset(null::alert_states, $1::json) n where s.rule_id = n.rule_id`,
    [JSON.stringify(rows)],
  )
}

/** How many enabled rules there are, how many fire and how many are late. */
export async function measureAlertRules(
  pool: Pool,
): Promise<{ rules: number; firing: number; late: number }> {
  const { rows } = await query<{ rules: number; firing: number; late: number }>(pool, measureSql)
  return rows[0] ?? { rules: 0, firing: 0, late: 0 }
}

/** Rules are late while the sink is behind, and when no evaluation has come for five minutes. */
const measureSql = `
  select count(*)::integer as rules, count(s.told_level)::integer as firing,
    count(*) filter (where s.status = 'late' or s.due_at < now() - interval '5 minutes')::integer as late
  from alert_rules r join alert_states s on s.rule_id = r.id where r.enabled`

import type { ClientBase, Pool } from 'pg'
import { query } from '#runtime/postgres.ts'
import type { AlertFilter, AlertRule } from '#schemas/alert-rule.ts'
import type { AlertLevel, AlertState, AlertStatus } from '#schemas/alert-state.ts'
import { alertRuleCountsSql, type AlertRuleCounts } from '#schemas/alert-values.ts'
import { hashedId, idFromUuid, idTimeMs, idToUuid } from '#schemas/ids.ts'

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

export async function measureAlertRules(pool: Pool): Promise<AlertRuleCounts> {
  const { rows } = await query<AlertRuleCounts>(pool, alertRuleCountsSql)
  return rows[0] ?? { rules: 0, firing: 0, late: 0 }
}

interface BuiltInRule {
  rule: AlertRule & { name: string }
  /** What the rule's identifier is made of. */
  seed: string
  /** SQL for the projects that it watches. */
  projects: string
}

const watching = { filter: {}, direction: 'above', cooldown_minutes: 360, compare: 'none' } as const

/** Rules that come by themselves: each for what lasts, not for one bad minute. */
const builtInRules: readonly BuiltInRule[] = [
  {
    seed: 'failing deliveries',
    projects: 'select project_id from webhooks where enabled',
    rule: {
      ...{ ...watching, name: 'Deliveries keep failing', metric: 'delivery_failures', window_minutes: 60 },
      ...{ warning_threshold: 4, alert_threshold: 49, for_minutes: 10 },
    },
  },
  {
    seed: 'waiting spool',
    projects: 'select project_id from gateways where project_id is not null',
    rule: {
      ...{ ...watching, name: 'A gateway does not deliver', metric: 'spool_wait_s', window_minutes: 5 },
      ...{ warning_threshold: 300, alert_threshold: 1_800, for_minutes: 0 },
    },
  },
  {
    seed: 'judge budget',
    projects: 'select id as project_id from projects where judge_usd_per_period > 0',
    rule: {
      ...{
        ...watching,
        name: "The judge's budget is spent",
        metric: 'judge_budget_share',
        window_minutes: 5,
      },
      ...{ warning_threshold: 0.8, alert_threshold: 0.99, for_minutes: 0 },
    },
  },
]

/** Adds them where they are missing, each for at most 100 projects. People disable them, not delete. */
export async function addBuiltInRules(client: ClientBase, now: Date): Promise<void> {
  for (const { rule, seed, projects } of builtInRules) {
    const { rows } = await client.query<{ project_id: string }>(
      `select distinct w.project_id from (${projects}) w where not exists (
         select from alert_rules r where r.project_id = w.project_id and r.is_built_in and r.metric = $1) limit 100`,
      [rule.metric],
    )
    if (rows.length === 0) continue
    const made = rows.map(({ project_id: uuid }) => {
      const projectId = idFromUuid('project', uuid)
      // The same for every sink.
      const id = idToUuid(hashedId('alertRule', idTimeMs(projectId), [seed, projectId]))
      const own = { created_at: now, updated_at: now, enabled: true, is_built_in: true }
      return { ...rule, ...own, id, project_id: uuid }
    })
    await client.query(
      `with made as (
         insert into alert_rules select * from json_populate_recordset(null::alert_rules, $1::json)
         on conflict do nothing returning id, project_id
       ) insert into alert_states (rule_id, project_id, status, since, due_at) select id, project_id, 'ok', $2, $2 from made`,
      [JSON.stringify(made), now],
    )
  }
}

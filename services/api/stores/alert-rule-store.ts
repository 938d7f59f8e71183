import { maxAlertRules, type AlertRule } from '#schemas/alert-rule.ts'
import type { AlertStatus } from '#schemas/alert-state.ts'
import { idFromUuid, idToUuid } from '#schemas/ids.ts'
import type { Counted, Paging } from '../http/paging.ts'
import { Conditions } from './conditions.ts'
import { listRows } from './list-rows.ts'
import type { OneProject, ProjectDatabase } from './project-database.ts'

export interface AlertRuleInput extends AlertRule {
  name: string
  enabled: boolean
}

export interface StoredAlertRule extends AlertRuleInput {
  id: string
  project_id: string
  is_built_in: boolean
  state: {
    status: AlertStatus
    since: string
    fires_since: string | null
    value: number | null
    compared_with: number | null
    evaluated_until: string | null
  }
  created_at: string
  updated_at: string
}

interface AlertRuleRow extends AlertRuleInput {
  id: string
  project_id: string
  is_built_in: boolean
  created_at: Date
  updated_at: Date
  status: AlertStatus
  since: Date
  told_since: Date | null
  value: number | null
  compared_with: number | null
  evaluated_until: Date | null
  due_at: Date
}

const inputColumns = [
  ...(['name', 'enabled', 'metric', 'filter', 'window_minutes', 'direction'] as const),
  ...(['warning_threshold', 'alert_threshold', 'for_minutes', 'cooldown_minutes', 'compare'] as const),
] as const
const stateColumns = 's.status, s.since, s.told_since, s.value, s.compared_with, s.evaluated_until, s.due_at'
const selectFrom = (rules: string, states: string) =>
  `select r.*, ${stateColumns} from ${rules} r join ${states} s on s.rule_id = r.id`
const valuesOf = (input: AlertRuleInput) =>
  inputColumns.map((name) => (name === 'filter' ? JSON.stringify(input.filter) : input[name]))
const places = (from: number) => inputColumns.map((_, index) => `$${from + index}`).join(', ')

/** Undefined: unknown project, or its limit. */
export async function createAlertRule(
  database: ProjectDatabase<OneProject>,
  id: string,
  input: AlertRuleInput,
  nowMs: number,
): Promise<StoredAlertRule | undefined> {
  const rows = await database.change<AlertRuleRow>(
    `with r as (
       insert into alert_rules (project_id, id, created_at, updated_at, ${inputColumns.join(', ')})
       select p.project_id, $2, $3, $3, ${places(5)} from subscriptions p
       where :scope(p) and (select count(*) from alert_rules o where :scope(o) and not o.is_built_in) < $4
       returning *
     ), s as (
       insert into alert_states (rule_id, project_id, status, since, due_at)
       select r.id, r.project_id, 'ok', r.created_at, r.created_at from r returning *
     ) ${selectFrom('r', 's')}`,
    [idToUuid(id), new Date(nowMs), maxAlertRules, ...valuesOf(input)],
    { action: 'alert_rule.created', subject: id, detail: { ...input } },
    nowMs,
    true,
  )
  return rows.map((row) => ruleOf(row, nowMs))[0]
}

/** Newest first. */
export async function listAlertRules(
  database: ProjectDatabase<OneProject>,
  paging: Paging,
  nowMs: number,
): Promise<{ items: StoredAlertRule[]; counted: Counted }> {
  const { rows, counted } = await listRows<AlertRuleRow>(database, paging, {
    columns: 'r.*',
    from: `(${selectFrom('alert_rules', 'alert_states')}) r`,
    alias: 'r',
    timeColumn: 'r.created_at',
    idColumn: 'r.id',
    conditions: new Conditions(),
  })
  return { items: rows.map((row) => ruleOf(row, nowMs)), counted }
}

export async function findAlertRule(
  database: ProjectDatabase<OneProject>,
  id: string,
  nowMs: number,
): Promise<StoredAlertRule | undefined> {
  const rows = await database.query<AlertRuleRow>(
    `${selectFrom('alert_rules', 'alert_states')} where :scope(r) and r.id = $2`,
    [idToUuid(id)],
  )
  return rows.map((row) => ruleOf(row, nowMs))[0]
}

/** Replaces the whole rule. It is due at once, and what had to last begins again. Undefined: unknown. */
export async function updateAlertRule(
  database: ProjectDatabase<OneProject>,
  id: string,
  input: AlertRuleInput,
  nowMs: number,
): Promise<StoredAlertRule | undefined> {
  await database.change(
    `with r as (
       update alert_rules r set updated_at = $3, (${inputColumns.join(', ')}) = row(${places(4)})
       where :scope(r) and r.id = $2 returning r.id
     ) update alert_states s set due_at = $3, warning_since = null, alert_since = null
       from r where s.rule_id = r.id returning s.rule_id`,
    [idToUuid(id), new Date(nowMs), ...valuesOf(input)],
    { action: 'alert_rule.changed', subject: id, detail: { ...input } },
    nowMs,
  )
  return findAlertRule(database, id, nowMs)
}

/** Built-in ones stay. False: unknown. */
export async function removeAlertRule(
  database: ProjectDatabase<OneProject>,
  id: string,
  nowMs: number,
): Promise<boolean> {
  const rows = await database.change(
    'delete from alert_rules r where :scope(r) and r.id = $2 and not r.is_built_in returning r.id',
    [idToUuid(id)],
    { action: 'alert_rule.deleted', subject: id },
    nowMs,
  )
  return rows.length > 0
}

/** Evaluations that did not come for so long are late, whatever the state says. */
const overdueMs = 5 * 60_000

function ruleOf(row: AlertRuleRow, nowMs: number): StoredAlertRule {
  const { name, enabled, metric, filter, window_minutes, direction, warning_threshold } = row
  const { alert_threshold, for_minutes, cooldown_minutes, compare, is_built_in } = row
  const isOverdue = enabled && nowMs - row.due_at.getTime() > overdueMs
  return {
    id: idFromUuid('alertRule', row.id),
    project_id: idFromUuid('project', row.project_id),
    ...{ name, enabled, metric, filter, window_minutes, direction, warning_threshold, alert_threshold },
    ...{ for_minutes, cooldown_minutes, compare, is_built_in },
    state: {
      status: isOverdue ? 'late' : row.status,
      since: row.since.toISOString(),
      fires_since: row.told_since?.toISOString() ?? null,
      value: row.value,
      compared_with: row.compared_with,
      evaluated_until: row.evaluated_until?.toISOString() ?? null,
    },
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  }
}

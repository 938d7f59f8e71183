import type { Pool } from 'pg'
import type { AlertRule } from '#schemas/alert-rule.ts'
import { idToUuid, newId } from '#schemas/ids.ts'

/** A rule as the API makes it, due at once. Returns its UUID. */
export async function addAlertRule(
  pool: Pool,
  projectId: string,
  changes: Partial<AlertRule> & Pick<AlertRule, 'metric' | 'alert_threshold'>,
): Promise<string> {
  const uuid = idToUuid(newId('alertRule'))
  const rule: AlertRule = {
    ...{ filter: {}, window_minutes: 5, direction: 'above', warning_threshold: null },
    ...{ for_minutes: 0, cooldown_minutes: 0, compare: 'none' },
    ...changes,
  }
  const columns = Object.keys(rule)
  await pool.query(
    `insert into alert_rules (id, project_id, name, enabled, created_at, updated_at, ${columns.join(', ')})
     select $1, $2, 'a rule', true, now(), now(), ${columns.map((name) => `r.${name}`).join(', ')}
     from json_populate_record(null::alert_rules, $3::json) r`,
    [uuid, idToUuid(projectId), JSON.stringify(rule)],
  )
  await pool.query(
    `insert into alert_states (rule_id, project_id, status, since, due_at) values ($1, $2, 'ok', now(), now() - interval '1 day')`,
    [uuid, idToUuid(projectId)],
  )
  return uuid
}

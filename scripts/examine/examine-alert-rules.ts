import type { Client } from 'pg'
import { alertRuleCountsSql, type AlertRuleCounts } from '#schemas/alert-values.ts'
import { ok, warning, type Finding } from './finding.ts'

/** Whether alert rules are evaluated: a rule that is late tells nobody anything. */
export async function examineAlertRules(client: Client): Promise<Finding[]> {
  const { rows } = await client.query<AlertRuleCounts>(alertRuleCountsSql)
  const { rules, firing, late } = rows[0] ?? { rules: 0, firing: 0, late: 0 }
  if (late === 0) return [ok('alert rules', `${rules} enabled, ${firing} firing, none late`)]
  return [
    warning(
      'alert rules',
      `${late} of ${rules} enabled rules are late: the sink or the scorers are behind, or no sink evaluates`,
      'look at the lag of sink-calls, scorer and sink-scores, and at the log of the sinks: docs/alerts.md',
    ),
  ]
}

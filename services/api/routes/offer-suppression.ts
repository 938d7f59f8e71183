import { otherName } from '#schemas/finding.ts'
import { newId } from '#schemas/ids.ts'
import type { Finding } from '../stores/finding-store.ts'
import { previewSuppression } from '../stores/preview-suppression.ts'
import type { OneProject, ProjectDatabase } from '../stores/project-database.ts'

const previewMs = 30 * 86_400_000

/** The suppression that covers what a finding groups, and what it would have covered; null: there is none. */
export async function offerSuppression(
  database: ProjectDatabase<OneProject>,
  finding: Finding,
  nowMs: number,
): Promise<object | null> {
  const { scorer_name, evidence_kind: kind, agent_name, tool_name, severity } = finding
  // It gathers many agents and tools: a rule would cover all of the scorer's findings.
  if (agent_name === otherName && tool_name === otherName) return null
  const rule = {
    ...{ id: newId('suppression', nowMs), scorer_name, kind, agent_name, tool_name },
    ...{ has_value: false, value_hash: null, max_severity: severity, expires_at: null },
  }
  const startMs = nowMs - previewMs
  const { scorers: _one, ...preview } = await previewSuppression(database, rule, { startMs, nowMs })
  return {
    rule: {
      scorer_name,
      ...(kind === null ? {} : { kind }),
      ...(agent_name === null ? {} : { agent_name }),
      ...(tool_name === null ? {} : { tool_name }),
      max_severity: severity,
    },
    needs_expires_at: severity === 'critical',
    ...preview,
  }
}

import type { Severity } from '#schemas/verdicts.ts'
import { textIn, type Notice } from './notice.ts'

/** Detection Finding of OCSF 1.3.0: class 2004 of category 2 (Findings). */
const classUid = 2004
const activities = { create: 1, update: 2, close: 3 } as const
const severities: Readonly<Record<Severity, number>> = { medium: 3, high: 4, critical: 5 }
const severityNames = ['Unknown', 'Informational', 'Low', 'Medium', 'High', 'Critical'] as const
const informational = 1
/** `status_id`: new, in progress, suppressed, resolved. */
const statuses: Readonly<Record<string, number>> = {
  open: 1,
  acknowledged: 2,
  muted: 3,
  false_alarm: 3,
  resolved: 4,
}
const statusNames = ['Unknown', 'New', 'In Progress', 'Suppressed', 'Resolved'] as const

/** An OCSF Detection Finding. What it has no attribute for stands in `unmapped`, as Sluice names it. */
export function ocsfOf(notice: Notice, product: { version: string }): Record<string, unknown> {
  const severityId = notice.severity === null ? informational : severities[notice.severity]
  const activityId = activityOf(notice)
  const { first_seen: firstSeen, last_seen: lastSeen, owasp_category: category } = notice.data
  const state = notice.action === 'resolve' ? 'resolved' : textIn(notice.data, 'state') || 'open'
  const statusId = statuses[state] ?? 1
  return {
    activity_id: activityId,
    activity_name: ['Unknown', 'Create', 'Update', 'Close'][activityId],
    category_uid: 2,
    category_name: 'Findings',
    class_uid: classUid,
    class_name: 'Detection Finding',
    type_uid: classUid * 100 + activityId,
    type_name: `Detection Finding: ${['Unknown', 'Create', 'Update', 'Close'][activityId]}`,
    time: notice.createdAtMs,
    severity_id: severityId,
    severity: severityNames[severityId],
    status_id: statusId,
    status: statusNames[statusId],
    message: notice.title,
    metadata: {
      version: '1.3.0',
      uid: notice.id,
      event_code: notice.event,
      tenant_uid: notice.projectId,
      product: { name: 'Sluice', vendor_name: 'Sluice', version: product.version },
    },
    finding_info: {
      uid: notice.dedupKey,
      title: notice.title,
      types: typeof category === 'string' ? [category] : [],
      ...timeOf('first_seen_time', firstSeen),
      ...timeOf('last_seen_time', lastSeen),
      ...(notice.link === null ? {} : { src_url: notice.link }),
    },
    observables: observablesOf(notice),
    unmapped: notice.data,
  }
}

function activityOf({ action, event }: Notice): number {
  if (action === 'resolve') return activities.close
  const isUpdate = action === 'acknowledge' || event === 'finding_reopened'
  return isUpdate ? activities.update : activities.create
}

function timeOf(name: string, value: unknown): Record<string, number> {
  const at = typeof value === 'string' ? Date.parse(value) : NaN
  return Number.isNaN(at) ? {} : { [name]: at }
}

/** What an analyst searches for. `type_id` 10 is a resource's identifier, 0 what OCSF does not name. */
function observablesOf({ data }: Notice) {
  const named = [
    ['unmapped.request_id', 'request_id', 10],
    ['unmapped.session_id', 'session_id', 10],
    ['unmapped.agent_name', 'agent_name', 0],
    ['unmapped.tool_name', 'tool_name', 0],
    ['unmapped.model', 'model', 0],
  ] as const
  return named.flatMap(([name, field, typeId]) => {
    const value = data[field]
    return typeof value === 'string' ? [{ name, type_id: typeId, value }] : []
  })
}

import { idFromUuid } from '#schemas/ids.ts'

/** An entry of the audit log, as it is stored. */
export interface AuditRow {
  id: string
  at: Date
  actor_kind: 'person' | 'key' | 'operator'
  actor_id: string | null
  actor_name: string | null
  address: string | null
  /** `webhook.created` */
  action: string
  subject: string | null
  project_id: string | null
  detail: Readonly<Record<string, unknown>> | null
}

/** API Activity of OCSF 1.3.0: class 6003 of category 6 (Application Activity). */
const classUid = 6003
const activityNames: Readonly<Record<number, string>> = { 1: 'Create', 2: 'Read', 3: 'Update', 4: 'Delete' }
const other = 99
/** By what an action says became of its object; all else is `other`, under the action's own name. */
const activities: readonly (readonly [activity: number, ending: RegExp])[] = [
  [1, /\.(created|ordered|requested|commented|saved)$/],
  [2, /\.\w*(viewed|exported)$/],
  [3, /\.\w*(changed|reset|rotated)$/],
  [4, /\.\w*(deleted|revoked|ended)$/],
]

/**
 * An entry for the operator's SIEM. `metadata.uid` is the entry's own, so that a repeated one is known. Of
 * what changed only identifiers, numbers and switches go along: no free text and no address.
 */
export function apiActivityOf(row: AuditRow, product: { version: string }): Record<string, unknown> {
  const activityId = activities.find(([, ending]) => ending.test(row.action))?.[0] ?? other
  const activityName = activityNames[activityId] ?? row.action
  const isRefused = row.action.endsWith('_refused')
  const projectUid = row.project_id === null ? {} : { tenant_uid: idFromUuid('project', row.project_id) }
  return {
    activity_id: activityId,
    activity_name: activityName,
    category_uid: 6,
    category_name: 'Application Activity',
    class_uid: classUid,
    class_name: 'API Activity',
    type_uid: classUid * 100 + activityId,
    type_name: `API Activity: ${activityId === other ? 'Other' : activityName}`,
    time: row.at.getTime(),
    severity_id: isRefused ? 2 : 1,
    severity: isRefused ? 'Low' : 'Informational',
    status_id: isRefused ? 2 : 1,
    status: isRefused ? 'Failure' : 'Success',
    api: { operation: row.action, service: { name: 'sluice' } },
    actor: { user: userOf(row) },
    src_endpoint: row.address === null ? { name: 'unknown' } : { ip: row.address },
    ...(row.subject === null ? {} : { resources: [resourceOf(row.action, row.subject)] }),
    metadata: {
      version: '1.3.0',
      uid: idFromUuid('audit', row.id),
      event_code: row.action,
      ...projectUid,
      product: { name: 'Sluice', vendor_name: 'Sluice', version: product.version },
    },
    ...(row.detail === null ? {} : { unmapped: { detail: withoutText(row.detail) } }),
  }
}

function userOf({ actor_kind: kind, actor_id: id, actor_name: name }: AuditRow): Record<string, unknown> {
  if (kind === 'operator' || id === null) return { name: kind, type_id: 2, type: 'Admin' }
  if (kind === 'key') return { uid: idFromUuid('key', id), type_id: 3, type: 'System' }
  return { uid: idFromUuid('person', id), type_id: 1, type: 'User', ...(name === null ? {} : { name }) }
}

function resourceOf(action: string, subject: string): Record<string, string> {
  return { uid: subject, type: action.split('.', 1)[0] ?? '' }
}

/** Identifiers, times, names of fields and of choices: no blank, no slash, no `@`. */
const plainWord = /^[A-Za-z0-9_.:+-]{1,64}$/
const secretName = /secret|token|password|credential/i

/** Values that hold text are null: their names still say what changed. */
function withoutText(value: unknown): unknown {
  if (typeof value === 'string') return plainWord.test(value) ? value : null
  if (Array.isArray(value)) return value.map(withoutText)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, secretName.test(name) ? null : withoutText(one)]),
  )
}

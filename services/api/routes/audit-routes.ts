import { z } from 'zod'
import { idFromUuid, idToUuid } from '#schemas/ids.ts'
import { idField, textField, timeField } from '#http/fields.ts'
import { route, type Route } from '#http/route.ts'
import { envelope, listOf, pagingFields, readPaging } from '../http/paging.ts'
import { refuseEndBeforeStart } from '../http/time-range.ts'
import { Conditions } from '../stores/conditions.ts'
import { listRows } from '../stores/list-rows.ts'
import type { ProjectDatabases } from '../stores/project-database.ts'

const auditSchema = z.object({
  id: z.string(),
  at: z.iso.datetime(),
  actor_kind: z
    .enum(['person', 'key', 'operator'])
    .describe('`operator`: the holder of INTERNAL_API_SECRET.'),
  actor_id: z.string().nullable().describe('The user or the key.'),
  actor_name: z
    .string()
    .nullable()
    .describe("The user's login at that time; `init file`: what SLUICE_INIT_FILE declares."),
  address: z.string().nullable(),
  action: z.string().describe('`webhook.created`: the kind of thing, and what became of it.'),
  subject: z.string().nullable().describe('Its identifier.'),
  project_id: z.string().nullable(),
  detail: z.record(z.string(), z.unknown()).nullable(),
})

type AuditItem = z.output<typeof auditSchema>
interface AuditRow extends Omit<AuditItem, 'at'> {
  at: Date
}

/** Who changed or saw what. */
export function auditRoutes({ databases }: { databases: ProjectDatabases }): Route[] {
  return [
    route({
      access: 'operator',
      tag: 'People',
      method: 'get',
      path: '/api/audit',
      summary: 'Who changed or was shown what, newest first.',
      query: z.strictObject({
        ...pagingFields,
        person_id: idField('person').optional(),
        action: textField(100).optional().describe('`webhook.created`, or all that begin so: `webhook.`'),
        subject: textField(300).optional(),
        project_id: idField('project').optional(),
        start: timeField.optional(),
        end: timeField.optional(),
      }),
      reply: { status: 200, description: 'Entries.', schema: listOf(auditSchema) },
      async handle({ principal, query }) {
        const paging = readPaging(query, 'audit')
        refuseEndBeforeStart(query)
        const conditions = new Conditions()
        if (query.person_id !== undefined) conditions.equal('a.actor_id', idToUuid(query.person_id))
        if (query.action?.endsWith('.') === true) {
          conditions.add(`starts_with(a.action, ${conditions.bind(query.action)})`)
        } else conditions.equal('a.action', query.action)
        conditions.equal('a.subject', query.subject)
        if (query.project_id !== undefined) conditions.equal('a.project_id', idToUuid(query.project_id))
        conditions.within('a.at', query.start, query.end)
        // Across projects: the log belongs to none, and a project's connection may not read it.
        const { rows, counted } = await listRows<AuditRow>(databases.of(principal, undefined), paging, {
          columns: 'a.*',
          from: 'audit_log a',
          alias: 'a',
          timeColumn: 'a.at',
          idColumn: 'a.id',
          conditions,
        })
        return { json: envelope(paging, rows.map(itemOf), counted) }
      },
    }),
  ]
}

function itemOf(row: AuditRow): AuditItem {
  const { actor_kind: kind, actor_id: actor, project_id: project } = row
  return {
    id: idFromUuid('audit', row.id),
    at: row.at.toISOString(),
    actor_kind: kind,
    actor_id: actor === null ? null : idFromUuid(kind === 'key' ? 'key' : 'person', actor),
    actor_name: row.actor_name,
    address: row.address,
    action: row.action,
    subject: row.subject,
    project_id: project === null ? null : idFromUuid('project', project),
    detail: row.detail,
  }
}

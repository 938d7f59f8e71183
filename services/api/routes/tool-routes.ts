import { z } from 'zod'
import type { Clock } from '#runtime/clock.ts'
import { idField, textField } from '#http/fields.ts'
import { route, type Route } from '#http/route.ts'
import { taggedJson } from '#http/entity-tag.ts'
import { listOf, listForm, pageFields, limitField, readPaging } from '../http/paging.ts'
import { rangeFields, readRange } from '../http/time-range.ts'
import { reportSources } from '../http/source-filter.ts'
import type { ProjectDatabases } from '../stores/project-database.ts'
import { createToolStore } from '../stores/tool-store.ts'

const toolDays = 30

const toolSchema = z.object({
  tool_name: z.string(),
  first_seen_at: z.iso.datetime().nullable().describe('The first call by any agent of the project.'),
  last_seen_at: z.iso.datetime(),
  calls: z.number().describe('Recorded calls.'),
  failed: z.number().describe('Those with an error or a status from 400.'),
  requested: z.number().describe('Answers that requested the tool, without a recorded call.'),
  agent_count: z.number().int(),
  agents: z.array(z.string()).describe('Up to 20.'),
})

interface ToolRoutesOptions {
  databases: ProjectDatabases
  clock: Clock
}

/** Tools that agents call. */
export function toolRoutes({ databases, clock }: ToolRoutesOptions): Route[] {
  return [
    route({
      access: 'read',
      tag: 'Agents',
      method: 'get',
      path: '/api/tools',
      summary: 'Called tools, the latest first. Without start: the last 30 days.',
      query: z.strictObject({
        ...pageFields,
        ...limitField,
        project_id: idField('project').optional().describe('Required from the operator; a key has its own.'),
        ...rangeFields,
        agent_name: textField(256).optional(),
        ...reportSources.fields,
      }),
      polled: true,
      reply: { status: 200, description: 'Tools.', schema: listOf(toolSchema) },
      async handle({ principal, query }) {
        const paging = readPaging(query, 'request')
        const filters = {
          ...readRange(query, clock.now(), toolDays),
          ...reportSources.read(query),
          agent_name: query.agent_name,
        }
        const store = createToolStore(databases.ofOne(principal, query.project_id))
        const { items, total } = await store.list(filters, paging)
        return taggedJson(listForm(paging, items, total))
      },
    }),
  ]
}

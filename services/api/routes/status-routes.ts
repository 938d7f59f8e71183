import { z } from 'zod'
import type { Clock } from '#runtime/clock.ts'
import { taggedJson } from '#http/entity-tag.ts'
import { route, type Route } from '#http/route.ts'
import { severities } from '#schemas/verdicts.ts'
import { listForm, listOf, pageFields, readPaging } from '../http/paging.ts'
import type { ProjectDatabases } from '../stores/project-database.ts'
import {
  countOpenFindings,
  countUnscored,
  listTroubled,
  maxNamed,
  readFailingReceivers,
  readFiringRules,
} from '../stores/status-store.ts'
import { projectQuery } from './webhook-routes.ts'

const count = z.number().int()
const time = z.iso.datetime()
const statusSchema = z.object({
  project_id: z.string(),
  findings: z
    .array(
      z.object({
        severity: z.enum(severities),
        open: count,
        last_day: count.describe('Opened within 24 hours.'),
        last_week: count.describe('Opened within 7 days, but not within 24 hours.'),
      }),
    )
    .describe('Open findings, the worst severity first: of the 10,000 that were opened last.'),
  firing_rules: z
    .array(z.object({ id: z.string(), name: z.string(), status: z.enum(['warning', 'alert']), since: time }))
    .describe(`Enabled alert rules over a threshold: at most ${maxNamed}.`),
  failing_receivers: z
    .array(
      z.object({
        id: z.string(),
        kind: z.string().describe('`webhook`, or the kind of destination.'),
        deliveries: count,
        failed: count,
        is_disabled: z.boolean().describe('Disabled by its failures.'),
      }),
    )
    .describe(
      `Receivers with half or more failures among the newest 1,000 deliveries of the last day: at most ${maxNamed}.`,
    ),
  scoring: z.object({
    waiting: count.describe(
      'Calls after the newest scored one that wait for over a minute: of the newest 1,000 of the last day.',
    ),
    oldest_at: time.nullable().describe('The time of the oldest of them.'),
  }),
})
const troubleSchema = z.object({
  project_id: z.string(),
  name: z.string(),
  critical: count.describe('Open findings.'),
  high: count,
  medium: count,
  last_day: count.describe('Open findings that were opened within 24 hours.'),
  firing_rules: count,
  failing_receivers: count,
})

interface StatusRoutesOptions {
  databases: ProjectDatabases
  clock: Clock
}

const common = { access: 'read', tag: 'Reports', method: 'get', polled: true } as const

/** Whether anything is wrong now: in a project, and in which projects. */
export function statusRoutes({ databases, clock }: StatusRoutesOptions): Route[] {
  return [
    route({
      ...common,
      path: '/api/status',
      summary: 'What is wrong in a project now: findings, alerts, delivery and scoring.',
      query: projectQuery,
      reply: { status: 200, description: 'The state of the project.', schema: statusSchema },
      async handle({ principal, query }) {
        const database = databases.ofOne(principal, query.project_id)
        const [findings, rules, receivers, scoring] = await Promise.all([
          countOpenFindings(database, clock.now()),
          readFiringRules(database),
          readFailingReceivers(database),
          countUnscored(database, clock.now()),
        ])
        const { projectId: project_id } = database.scope
        return taggedJson({
          ...{ project_id, findings, firing_rules: rules, failing_receivers: receivers, scoring },
        })
      },
    }),
    route({
      ...common,
      path: '/api/status/projects',
      summary: 'The projects with something wrong, the worst first. The operator sees all.',
      query: projectQuery.extend(pageFields),
      reply: { status: 200, description: 'Projects.', schema: listOf(troubleSchema) },
      async handle({ principal, query }) {
        const paging = readPaging(query, 'project')
        const database = databases.ofAny(principal, query.project_id)
        const { items, total } = await listTroubled(database, paging, clock.now())
        return taggedJson(listForm(paging, items, total))
      },
    }),
  ]
}

import { z } from 'zod'
import type { Principal } from '#http/access/principal.ts'
import { textField } from '#http/fields.ts'
import { found, invalidInput } from '#http/problem.ts'
import { route, type Route } from '#http/route.ts'
import { listForm, listOf, pageFields, readPaging } from '../http/paging.ts'
import type { ProjectDatabases } from '../stores/project-database.ts'
import { listScorers, saveScorerSettings, type ListedScorer } from '../stores/scorer-list-store.ts'
import { authorOf, type ScorerRoutesOptions } from './scorer-parts.ts'
import { listedScorerSchema } from './scorer-schemas.ts'
import { projectQuery } from './webhook-routes.ts'

/** What scores the calls of a project, and how. */
export function scorerListRoutes(options: ScorerRoutesOptions): Route[] {
  return [listRoute(options), settingsRoute(options)]
}

const common = { access: 'all', tag: 'Scorers', query: projectQuery } as const

function listRoute({ databases }: ScorerRoutesOptions): Route {
  return route({
    ...common,
    access: 'read',
    method: 'get',
    path: '/api/scorers',
    summary: 'What scores the calls of the project: built-in scorers, those of the file, and its own.',
    query: projectQuery.extend(pageFields),
    reply: { status: 200, description: 'Scorers.', schema: listOf(listedScorerSchema) },
    problems: { 404: 'There is no such project.' },
    async handle({ principal, query }) {
      const paging = readPaging(query, 'projectScorer')
      const database = databases.ofOne(principal, query.project_id)
      const all = found(await listScorers(database), 'project', database.scope.projectId)
      const shown = all.slice(paging.offset, paging.offset + paging.limit)
      return { json: listForm(paging, shown, all.length) }
    },
  })
}

const settingsSchema = z.strictObject({
  enabled: z.boolean().optional().describe('Off: it writes no score.'),
  fail_at: z
    .number()
    .min(2)
    .max(5)
    .nullable()
    .optional()
    .describe('The lowest unsafe value; null: the default again.'),
})

function settingsRoute({ databases, clock }: ScorerRoutesOptions): Route {
  return route({
    ...common,
    method: 'patch',
    path: '/api/scorers/{name}/settings',
    summary:
      'Switch any scorer of the project on or off, or set its threshold. Takes effect within 5 seconds.',
    params: z.object({ name: textField(100) }),
    body: settingsSchema,
    reply: { status: 200, description: 'The scorer.', schema: listedScorerSchema },
    problems: { 404: 'There is no such scorer.' },
    async handle({ principal, params: { name }, query, body }) {
      const database = databases.ofOne(principal, query.project_id)
      const scorer = await listed(databases, principal, query.project_id, name)
      if (body.fail_at != null && scorer.default_fail_at === null && scorer.origin !== 'built_in')
        throw invalidInput([{ path: 'fail_at', message: 'keywords and patterns give 1 or 5: no threshold' }])
      await saveScorerSettings(database, scorer, body, { by: authorOf(principal), nowMs: clock.now() })
      return { json: await listed(databases, principal, query.project_id, name) }
    },
  })
}

async function listed(
  databases: ProjectDatabases,
  principal: Principal,
  projectId: string | undefined,
  name: string,
): Promise<ListedScorer> {
  const all = await listScorers(databases.ofOne(principal, projectId))
  // A scorer of the file hides the project's of the same name.
  return found(
    all?.find((scorer) => scorer.name === name),
    'scorer',
    name,
  )
}

import { z } from 'zod'
import { newId } from '#schemas/ids.ts'
import { maxScorerDays, projectScorerDefinition } from '#schemas/project-scorer.ts'
import { idField, textField } from '#http/fields.ts'
import { found, invalidInput, Problem } from '#http/problem.ts'
import { route, type Route } from '#http/route.ts'
import { checkDefinition } from '../scorers/check-definition.ts'
import { isProject, type OneProject, type ProjectDatabase } from '../stores/project-database.ts'
import { findProjectScorer } from '../stores/project-scorer-store.ts'
import { findPreview, orderPreview, type PreviewedScorer } from '../stores/scorer-preview-store.ts'
import type { ScorerRoutesOptions } from './scorer-parts.ts'
import { previewSchema } from './scorer-schemas.ts'
import { projectQuery } from './webhook-routes.ts'

/** What a scorer would find in the project's last calls, before it is switched on. */
export function scorerPreviewRoutes(options: ScorerRoutesOptions): Route[] {
  return [orderRoute(options), getRoute(options)]
}

const common = { tag: 'Scorers', query: projectQuery } as const
const orderSchema = z.strictObject({
  scorer_id: idField('projectScorer').optional().describe('A saved scorer; or `definition`.'),
  definition: projectScorerDefinition.optional().describe('One that is not saved.'),
  days: z.number().int().min(1).max(maxScorerDays).default(7),
  reviews_of: textField(100).optional().describe('Compare with reviews of this scorer only. Absent: of all.'),
})

function orderRoute({ databases, sealer, clock }: ScorerRoutesOptions): Route {
  return route({
    ...common,
    access: 'all',
    method: 'post',
    path: '/api/scorers/previews',
    summary:
      'Try a scorer on calls of the last days: 2,000 for keywords and patterns, 200 for a criterion. Reviewed calls come first. No score is written.',
    body: orderSchema,
    reply: { status: 201, description: 'The preview; read it until it is done.', schema: previewSchema },
    problems: {
      404: 'There is no such scorer or project.',
      409: 'Another preview of the project is under way.',
    },
    async handle({ principal, query, body }) {
      const database = databases.ofOne(principal, query.project_id)
      const scorer = await previewedOf(database, body)
      const nowMs = clock.now()
      const id = newId('scorerPreview', nowMs)
      const order = { scorer, days: body.days, reviewsOf: body.reviews_of ?? null }
      if (!(await orderPreview(database, id, order, nowMs)) && (await isProject(database)))
        throw new Problem(409, 'PREVIEW_UNDER_WAY', 'another preview of the project is under way')
      return {
        status: 201,
        json: found(await findPreview(database, id, sealer), 'project', database.scope.projectId),
      }
    },
  })
}

async function previewedOf(
  database: ProjectDatabase<OneProject>,
  { scorer_id: id, definition }: z.output<typeof orderSchema>,
): Promise<PreviewedScorer> {
  if ((id === undefined) === (definition === undefined))
    throw invalidInput([{ path: 'definition', message: 'send either scorer_id or definition' }])
  if (id !== undefined) return found(await findProjectScorer(database, id), 'scorer', id)
  if (definition !== undefined) checkDefinition(definition)
  const nothing = { version: 0, description: null, severity: 'high', owasp_category: null }
  return { id: newId('projectScorer'), name: 'preview', definition, ...nothing }
}

function getRoute({ databases, sealer, clock }: ScorerRoutesOptions): Route {
  return route({
    ...common,
    access: 'read',
    method: 'get',
    path: '/api/scorers/previews/{id}',
    summary: 'A preview, with the calls that the scorer would find and what matched. Kept for an hour.',
    params: z.object({ id: idField('scorerPreview') }),
    reply: { status: 200, description: 'The preview.', schema: previewSchema },
    problems: { 404: 'There is no such preview.' },
    async handle({ principal, params: { id }, query }) {
      const database = databases.ofOne(principal, query.project_id)
      const preview = found(await findPreview(database, id, sealer), 'preview', id)
      if (preview.hits.length > 0)
        await database.noteView({ action: 'scorer_preview.viewed', subject: id }, clock.now())
      return { json: preview }
    },
  })
}

import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { newId } from '#schemas/ids.ts'
import { maxCriteria, maxPatternScorers } from '#schemas/project-scorer.ts'
import { idField } from '#http/fields.ts'
import { found, invalidInput, notFound, Problem } from '#http/problem.ts'
import { route, type Route } from '#http/route.ts'
import { listForm, listOf, pageFields, readPaging } from '../http/paging.ts'
import { checkDefinition } from '../scorers/check-definition.ts'
import {
  changeProjectScorer,
  createProjectScorer,
  faultOfNewScorer,
  findProjectScorer,
  listVersions,
  maxOfKind,
  removeProjectScorer,
  type ProjectScorer,
  type ProjectScorerInput,
} from '../stores/project-scorer-store.ts'
import { scorerListRoutes } from './scorer-list-routes.ts'
import { authorOf, type ScorerRoutesOptions } from './scorer-parts.ts'
import {
  changeScorerSchema,
  createScorerSchema,
  projectScorerSchema,
  scorerVersionSchema,
} from './scorer-schemas.ts'
import { scorerPreviewRoutes } from './scorer-preview-routes.ts'
import { projectQuery } from './webhook-routes.ts'

/** What scores the calls of a project, and the scorers that it makes itself. */
export function scorerRoutes(options: ScorerRoutesOptions): Route[] {
  return [
    ...scorerListRoutes(options),
    createRoute(options),
    ...scorerPreviewRoutes(options),
    getRoute(options),
    changeRoute(options),
    removeRoute(options),
    versionsRoute(options),
  ]
}

const common = { access: 'all', tag: 'Scorers', query: projectQuery } as const
const one = {
  ...common,
  params: z.object({ id: idField('projectScorer') }),
  problems: { 404: 'There is no such scorer.' },
} as const

function createRoute({ databases, clock }: ScorerRoutesOptions): Route {
  return route({
    ...common,
    method: 'post',
    path: '/api/scorers',
    summary:
      'Make a scorer of the project: keywords, patterns, or a criterion in words. It starts switched off.',
    body: createScorerSchema,
    reply: { status: 201, description: 'The scorer.', schema: projectScorerSchema },
    problems: {
      404: 'There is no such project.',
      422: `A field is wrong, the name is taken, or the project has ${maxCriteria} criteria or ${maxPatternScorers} other scorers already.`,
    },
    async handle({ principal, query, body }) {
      const { name, enabled, ...input } = body
      checkDefinition(input.definition)
      const database = databases.ofOne(principal, query.project_id)
      const nowMs = clock.now()
      const own = { id: newId('projectScorer', nowMs), name, enabled, by: authorOf(principal) }
      const scorer = await createProjectScorer(database, own, input, nowMs)
      if (scorer === undefined)
        refuseNew(await faultOfNewScorer(database, name, input.definition.kind), input)
      return { status: 201, json: found(scorer, 'project', database.scope.projectId) }
    },
  })
}

function refuseNew(fault: Awaited<ReturnType<typeof faultOfNewScorer>>, input: ProjectScorerInput): void {
  if (fault === 'too_many') {
    const { kind } = input.definition
    const what = kind === 'criterion' ? 'criteria' : 'keyword and regex scorers'
    throw new Problem(422, 'SCORERS_TOO_MANY', `the project has ${maxOfKind(kind)} ${what} already`)
  }
  if (fault === null) return
  const whose =
    fault === 'name_of_file' ? 'of a scorer of the installation' : 'of another scorer of the project'
  throw invalidInput([{ path: 'name', message: `is the name ${whose}` }])
}

function getRoute({ databases }: ScorerRoutesOptions): Route {
  return route({
    ...one,
    access: 'read',
    method: 'get',
    path: '/api/scorers/{id}',
    summary: 'One scorer of the project, with its definition.',
    reply: { status: 200, description: 'The scorer.', schema: projectScorerSchema },
    async handle({ principal, params: { id }, query }) {
      const database = databases.ofOne(principal, query.project_id)
      return { json: found(await findProjectScorer(database, id), 'scorer', id) }
    },
  })
}

function changeRoute({ databases, clock }: ScorerRoutesOptions): Route {
  return route({
    ...one,
    method: 'patch',
    path: '/api/scorers/{id}',
    summary:
      'Change a scorer of the project: a new version, unless only `enabled` changes. Absent fields stay.',
    body: changeScorerSchema,
    reply: { status: 200, description: 'The changed scorer.', schema: projectScorerSchema },
    problems: { ...one.problems, 409: 'Somebody else changed it at the same moment.' },
    async handle({ principal, params: { id }, query, body }) {
      const { enabled, ...changes } = body
      if (changes.definition !== undefined) checkDefinition(changes.definition)
      const database = databases.ofOne(principal, query.project_id)
      const before = found(await findProjectScorer(database, id), 'scorer', id)
      refuseOtherKind(before, changes.definition)
      const input = inputOf(before, changes)
      if (input === undefined && (enabled ?? before.enabled) === before.enabled) return { json: before }
      const change = { input, enabled: enabled ?? before.enabled, by: authorOf(principal) }
      const scorer = await changeProjectScorer(database, before, change, clock.now())
      if (scorer === undefined)
        throw new Problem(409, 'SCORER_CHANGED', `${id} was changed at the same moment: read it again`)
      return { json: scorer }
    },
  })
}

function refuseOtherKind(
  { definition }: ProjectScorer,
  given: ProjectScorer['definition'] | undefined,
): void {
  if (given === undefined || given.kind === definition.kind) return
  const message = `must stay ${definition.kind}: make another scorer instead`
  throw invalidInput([{ path: 'definition.kind', message }])
}

/** Undefined: nothing that the version is about changes. */
function inputOf(
  before: ProjectScorer,
  changes: z.output<typeof changeScorerSchema>,
): ProjectScorerInput | undefined {
  const { definition, description, severity, owasp_category } = before
  const input = {
    definition: changes.definition ?? definition,
    description: changes.description === undefined ? description : changes.description,
    severity: changes.severity ?? severity,
    owasp_category: changes.owasp_category === undefined ? owasp_category : changes.owasp_category,
  }
  const isSame = isDeepStrictEqual(input, { definition, description, severity, owasp_category })
  return isSame ? undefined : input
}

function removeRoute({ databases, clock }: ScorerRoutesOptions): Route {
  return route({
    ...one,
    method: 'delete',
    path: '/api/scorers/{id}',
    summary: 'Delete a scorer of the project with its versions. Its scores stay.',
    reply: { status: 204, description: 'Deleted.' },
    async handle({ principal, params: { id }, query }) {
      const database = databases.ofOne(principal, query.project_id)
      const before = found(await findProjectScorer(database, id), 'scorer', id)
      if (!(await removeProjectScorer(database, before, clock.now()))) throw notFound('scorer', id)
      return {}
    },
  })
}

function versionsRoute({ databases }: ScorerRoutesOptions): Route {
  return route({
    ...one,
    access: 'read',
    method: 'get',
    path: '/api/scorers/{id}/versions',
    summary: 'The last hundred versions of a scorer of the project, newest first.',
    query: projectQuery.extend(pageFields),
    reply: { status: 200, description: 'Versions.', schema: listOf(scorerVersionSchema) },
    async handle({ principal, params: { id }, query }) {
      const paging = readPaging(query, 'projectScorer')
      const database = databases.ofOne(principal, query.project_id)
      const { items, total } = await listVersions(database, id, paging)
      if (total === 0) throw notFound('scorer', id)
      return { json: listForm(paging, items, total) }
    },
  })
}

import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import type { Clock } from '#runtime/clock.ts'
import type { Sealer } from '#runtime/sealing.ts'
import { newId } from '#schemas/ids.ts'
import { maxCriteria, maxPatternScorers } from '#schemas/project-scorer.ts'
import { customScorerName } from '#schemas/verdicts.ts'
import type { Principal } from '#http/access/principal.ts'
import { idField } from '#http/fields.ts'
import { found, invalidInput, notFound, Problem } from '#http/problem.ts'
import { route, type Route } from '#http/route.ts'
import { listForm, listOf, pageFields, readPaging } from '../http/paging.ts'
import { checkDefinition } from '../scorers/check-definition.ts'
import type { ProjectDatabases } from '../stores/project-database.ts'
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
import { listScorers, saveScorerSettings, type ListedScorer } from '../stores/scorer-list-store.ts'
import {
  changeScorerSchema,
  createScorerSchema,
  listedScorerSchema,
  projectScorerSchema,
  scorerVersionSchema,
} from './scorer-schemas.ts'
import { scorerPreviewRoutes } from './scorer-preview-routes.ts'
import { projectQuery } from './webhook-routes.ts'

export interface ScorerRoutesOptions {
  databases: ProjectDatabases
  sealer: Sealer
  clock: Clock
}

/** What scores the calls of a project, and the scorers that it makes itself. */
export function scorerRoutes(options: ScorerRoutesOptions): Route[] {
  return [
    listRoute(options),
    createRoute(options),
    ...scorerPreviewRoutes(options),
    getRoute(options),
    changeRoute(options),
    removeRoute(options),
    versionsRoute(options),
    settingsRoute(options),
  ]
}

const common = { access: 'all', tag: 'Scorers', query: projectQuery } as const
const one = {
  ...common,
  params: z.object({ id: idField('projectScorer') }),
  problems: { 404: 'There is no such scorer.' },
} as const

/** The name under which versions and settings are kept. */
function nameOf(principal: Principal): string {
  if (principal.kind === 'person') return principal.person.login
  return principal.kind === 'key' ? principal.key.keyId : principal.kind
}

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
      const own = { id: newId('projectScorer', nowMs), name, enabled, by: nameOf(principal) }
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
      const change = { input, enabled: enabled ?? before.enabled, by: nameOf(principal) }
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
    params: z.object({ name: z.string().regex(customScorerName, 'is no name of a scorer') }),
    body: settingsSchema,
    reply: { status: 200, description: 'The scorer.', schema: listedScorerSchema },
    problems: { 404: 'There is no such scorer.' },
    async handle({ principal, params: { name }, query, body }) {
      const database = databases.ofOne(principal, query.project_id)
      const scorer = await listed(databases, principal, query.project_id, name)
      if (body.fail_at != null && scorer.default_fail_at === null && scorer.origin !== 'built_in')
        throw invalidInput([{ path: 'fail_at', message: 'keywords and patterns give 1 or 5: no threshold' }])
      await saveScorerSettings(database, scorer, body, { by: nameOf(principal), nowMs: clock.now() })
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

import { z } from 'zod'
import type { Clock } from '#runtime/clock.ts'
import { idField } from '#http/fields.ts'
import { found } from '#http/problem.ts'
import { route, type Route } from '#http/route.ts'
import { taggedJson } from '#http/entity-tag.ts'
import { envelope, listOf, pagingFields, readPaging } from '../http/paging.ts'
import { mayReadContent } from '../people/authenticate-people.ts'
import { countPeopleOf, readComments, readFindingCalls, readFindingValues } from '../stores/finding-parts.ts'
import { readHistory } from '../stores/finding-parts.ts'
import { findFinding, listFindings, readFindingFacets } from '../stores/finding-store.ts'
import type { ProjectDatabases } from '../stores/project-database.ts'
import { detailSchema, facetsSchema, findingFilterFields, findingSchema } from './finding-schemas.ts'

interface FindingRoutesOptions {
  databases: ProjectDatabases
  clock: Clock
}

const common = { access: 'read', tag: 'Findings', method: 'get' } as const

/** Findings: failing scores of one kind, to be worked on as one. */
export function findingRoutes(options: FindingRoutesOptions): Route[] {
  // Facets first: {id} would match them.
  return [facetsRoute(options), listRoute(options), getRoute(options)]
}

function listRoute({ databases, clock }: FindingRoutesOptions): Route {
  return route({
    ...common,
    path: '/api/findings',
    summary: 'List findings, those opened last first. The operator sees those of all projects.',
    query: z.strictObject({ ...pagingFields, ...findingFilterFields }),
    polled: true,
    reply: { status: 200, description: 'Findings.', schema: listOf(findingSchema) },
    async handle({ principal, query }) {
      const paging = readPaging(query, 'finding')
      const database = databases.of(principal, query.project_id)
      const { items, counted } = await listFindings(database, query, paging, clock.now())
      const everyProject = database.scope.projectId === null
      return taggedJson(
        envelope(paging, items, counted, ({ project_id }) => (everyProject ? project_id : undefined)),
      )
    },
  })
}

function facetsRoute({ databases, clock }: FindingRoutesOptions): Route {
  return route({
    ...common,
    path: '/api/findings/facets',
    summary: 'The values of each filter with their number of findings that pass the filters.',
    query: z.strictObject(findingFilterFields),
    polled: true,
    reply: { status: 200, description: 'Most frequent first.', schema: facetsSchema },
    async handle({ principal, query }) {
      const database = databases.of(principal, query.project_id)
      const { findings, overdue, of, isExact } = await readFindingFacets(database, query, clock.now())
      return taggedJson({ findings, overdue, ...of, ...(isExact ? {} : { counts_are_exact: false }) })
    },
  })
}

function getRoute({ databases, clock }: FindingRoutesOptions): Route {
  return route({
    ...common,
    path: '/api/findings/{id}',
    summary: 'A finding with its calls, comments and history.',
    params: z.object({ id: idField('finding') }),
    query: z.strictObject({ project_id: findingFilterFields.project_id }),
    polled: true,
    reply: { status: 200, description: 'The finding.', schema: detailSchema },
    problems: { 404: 'There is no such finding.' },
    async handle({ principal, params, query }) {
      const database = databases.ofAny(principal, query.project_id)
      const finding = found(await findFinding(database, params.id, clock.now()), 'finding', params.id)
      const [people, calls, values, comments, history] = await Promise.all([
        countPeopleOf(database, finding),
        readFindingCalls(database, finding),
        readFindingValues(database, finding),
        readComments(database, finding),
        readHistory(database, finding),
      ])
      const { isExact, ...counts } = people
      // Comments quote content.
      const shown = mayReadContent(principal) ? comments : comments.map((each) => ({ ...each, text: null }))
      return taggedJson({
        ...{ ...finding, ...counts, sessions_are_exact: isExact },
        ...{ calls, values, comments: shown, history },
      })
    },
  })
}

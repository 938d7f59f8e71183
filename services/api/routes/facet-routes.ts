import { z } from 'zod'
import type { Clock } from '#runtime/clock.ts'
import { callVerdicts } from '#schemas/call-reading.ts'
import { scoreLabels, severities } from '#schemas/verdicts.ts'
import { idField } from '#http/fields.ts'
import { route, type Route } from '#http/route.ts'
import { taggedJson } from '#http/entity-tag.ts'
import { reportSources } from '../http/source-filter.ts'
import { countedRangeFields, presentRange, rangeFields, readRange } from '../http/time-range.ts'
import { readFilteredFacets } from '../stores/filtered-facets.ts'
import type { OneProject, ProjectDatabase, ProjectDatabases } from '../stores/project-database.ts'
import { countReviewed } from '../stores/review-filter.ts'
import { readCallFacets, readScorers, type RollupFilters } from '../stores/rollup-reads.ts'
import { readVerdicts } from '../stores/verdict-reads.ts'
import { statusFilters, type RequestFilters } from '../stores/select-requests.ts'
import { createToolStore } from '../stores/tool-store.ts'
import { metadataParameters } from './metadata-fields.ts'
import { readFilters, requestFilterFields } from './request-filters.ts'

const facetDays = 30
/** Values per facet: as many as a person reads. */
const maxValues = 100
const worstFirst = severities.toReversed()

const values = z.array(z.object({ value: z.string(), count: z.number() }))
const facetsSchema = z.object({
  project_id: z.string(),
  ...countedRangeFields,
  calls: z.number(),
  model: values,
  provider: values,
  agent_name: values,
  source: values.describe('Every source, whatever the filter.'),
  tool_name: values.describe('Recorded tool calls.'),
  scorer_name: values.describe(
    'Calls that the scorer found unsafe. Without filters, scorers of the overflow group are missing.',
  ),
  label: values.describe(
    "Calls by their worst label; `pending` has no score yet. With scorer_name, by that scorer's label.",
  ),
  severity: values.describe("The worst; with scorer_name, that scorer's."),
  verdict: values.describe(
    'What all scorers say together; calls without a score are missing, and older ones until theirs is derived.',
  ),
  review: values.describe('Calls whose scores people reviewed, by what they said last of each.'),
  status: values.describe('`failed`: with an error, or a status of 400 and more; `aborted`: broken off.'),
  counts_are_exact: z
    .literal(false)
    .optional()
    .describe(
      'Present when more than 10,000 calls pass the filters: all counts are of the newest 10,000, and minimums.',
    ),
  scores_are_exact: z
    .literal(false)
    .optional()
    .describe('Present with scorer_name and counts_are_exact: label and severity are minimums too.'),
})

interface FacetRoutesOptions {
  databases: ProjectDatabases
  clock: Clock
}

type Facets = Omit<z.output<typeof facetsSchema>, 'project_id' | 'start' | 'end'>

/** Filters that roll-ups have by hour and source, whatever the number of calls. */
const ofRollups = new Set(['project_id', 'start', 'end', 'source', 'include_redteam'])

/** The values that filters can take. */
export function facetRoutes({ databases, clock }: FacetRoutesOptions): Route[] {
  return [
    route({
      access: 'read',
      tag: 'Requests',
      method: 'get',
      path: '/api/requests/facets',
      summary:
        'The values of each filter with their number of calls that pass the filters, most frequent first. Without start: 30 days.',
      query: z
        .object({
          ...requestFilterFields,
          ...rangeFields,
          ...reportSources.fields,
          project_id: idField('project')
            .optional()
            .describe('Required from the operator; a key has its own.'),
        })
        .catchall(z.string()),
      openParameters: metadataParameters,
      polled: true,
      reply: { status: 200, description: 'Up to 100 values of each.', schema: facetsSchema },
      async handle({ principal, query }) {
        const range = readRange(query, clock.now(), facetDays)
        const chosen = readFilters(query, {})
        const sources = reportSources.read(query)
        const database = databases.ofOne(principal, query.project_id)
        const isFiltered = Object.keys(query).some((name) => !ofRollups.has(name))
        const { withoutSource: _records, ...rest } = chosen
        const facets = isFiltered
          ? await filteredFacets(
              database,
              { ...rest, ...sources, start: range.startMs, end: range.endMs },
              clock.now(),
            )
          : await countedFacets(database, { ...range, ...sources })
        return taggedJson({ project_id: database.scope.projectId, ...presentRange(range), ...facets })
      },
    }),
  ]
}

/** Of all calls, from the roll-ups. */
async function countedFacets(database: ProjectDatabase<OneProject>, filters: RollupFilters): Promise<Facets> {
  const [calls, scorers, tools, verdicts, reviews] = await Promise.all([
    readCallFacets(database, filters, maxValues),
    readScorers(database, filters),
    createToolStore(database).counts(filters, maxValues),
    readVerdicts(database, filters),
    countReviewed(database, filters),
  ])
  return {
    calls: calls.sumOf('calls'),
    ...calls.values,
    tool_name: tools,
    scorer_name: mostFrequent(scorers.map((row) => [row['scorer_name'], Number(row['unsafe'])])),
    status: statusFacet(calls.sumOf),
    ...worstFacets(calls.sumOf),
    verdict: mostFrequent(callVerdicts.map((verdict) => [verdict, verdicts[verdict].calls])),
    review: mostFrequent([...reviews]),
  }
}

async function filteredFacets(
  database: ProjectDatabase<OneProject>,
  filters: RequestFilters,
  nowMs: number,
): Promise<Facets> {
  const { calls, isExact, of, source, scorer_name, review } = await readFilteredFacets(
    database,
    filters,
    nowMs,
  )
  return {
    calls,
    model: mostFrequent([...of.model]),
    provider: mostFrequent([...of.provider]),
    agent_name: mostFrequent([...of.agent_name]),
    source: mostFrequent([...source]),
    tool_name: mostFrequent([...of.tool_name]),
    scorer_name: mostFrequent([...scorer_name]),
    label: mostFrequent([...of.label]),
    severity: mostFrequent(worstFirst.map((severity) => [severity, of.severity.get(severity) ?? 0])),
    verdict: mostFrequent([...of.verdict]),
    review: mostFrequent([...review]),
    status: mostFrequent(statusFilters.map((status) => [status, of.status.get(status) ?? 0])),
    ...(isExact ? {} : { counts_are_exact: false as const }),
    ...(isExact || filters.scorer_name === undefined ? {} : { scores_are_exact: false as const }),
  }
}

/** Over all scorers. */
function worstFacets(sumOf: (name: string) => number) {
  const labels = scoreLabels.map((label): [string, number] => [label, sumOf(`verdict_${label}`)])
  const pending = sumOf('calls') - labels.reduce((sum, [, scored]) => sum + scored, 0)
  return {
    label: mostFrequent([...labels, ['pending', pending]]),
    severity: mostFrequent(worstFirst.map((severity) => [severity, sumOf(`severity_${severity}`)])),
  }
}

/** The values that the list's filter takes. */
function statusFacet(sumOf: (name: string) => number) {
  return mostFrequent(
    statusFilters.map((status) => [status, sumOf(status.endsWith('xx') ? `status_${status}` : status)]),
  )
}

function mostFrequent(
  counted: readonly (readonly [string | null | undefined, number])[],
): z.output<typeof values> {
  return counted
    .flatMap(([value, count]) =>
      value === null || value === undefined || count <= 0 ? [] : [{ value, count }],
    )
    .sort((one, other) => other.count - one.count)
    .slice(0, maxValues)
}
